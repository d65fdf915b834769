import type { AuditFilter } from '@capstan/contracts';
import { nanoid } from 'nanoid';
import { expect, test } from 'vitest';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { chainAudit } from './chain-audit.js';
import { listAudit } from './read-audit.js';
import { verifyAudit } from './verify-audit.js';

const store = await openTestStore();
const list = async (filter: AuditFilter) => (await listAudit(store.db, 'acme', filter, { limit: 100 })).items;

test('calls that are submitted together are one event of their actor, found by each of them', async () => {
  const mine = manyInvocations(3);
  const others = manyInvocations(2, { actor: 'bob', tool_id: 'shell.run' });
  await insertInvocations(store, [...mine, ...others]);
  const events = await list({ event: 'invocation.submit' });
  expect(events.map(({ actor }) => actor).sort()).toEqual(['ann', 'bob']);
  for (const { invocation_id, input_hash } of others)
    expect(await list({ subject: invocation_id })).toMatchObject([
      { actor: 'bob', detail: { calls: { 'shell.run': { [invocation_id]: input_hash } } } },
    ]);
});

test('a bulk is cut into events of 500 calls, found by its run', async () => {
  const run_id = `run_${nanoid()}`;
  await insertInvocations(store, manyInvocations(1001, { run_id }), { run: { run_id, tenant: 'acme', actor: 'ann' } });
  const calls = (await list({ subject: run_id })).map(({ detail }) => Object.values(Object(detail.calls)));
  expect(calls.map(([ids]) => Object.keys(Object(ids)).length).sort()).toEqual([1, 500, 500]);
});

test('held and denied calls are audited individually with the reason, and a known key adds nothing', async () => {
  const { decision, ...row } = newInvocation({ status: 'denied', idempotency_key: 'once' });
  const denied = { ...row, decision: { ...decision, reason: 'no rule allows it', code: 'POLICY_DENIED' as const } };
  await insertInvocations(store, [denied]);
  await insertInvocations(store, [{ ...denied, invocation_id: `inv_${nanoid()}` }]);
  expect(await list({ event: 'invocation.deny' })).toMatchObject([
    { subject: denied.invocation_id, detail: { reason: 'no rule allows it', tool_id: denied.tool_id } },
  ]);
});

test('all events are chained', async () => {
  while ((await chainAudit(store, 2)) > 0);
  expect(await verifyAudit(store, 'acme')).toMatchObject({ ok: true, unchained: 0 });
});

import { CLOSED_INSTALLATION, type Decision, holdIdOf } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { insertInvocations, type NewInvocation } from '../invocation/insert-invocations.js';
import { boundBy } from '../policy/effective-policy.js';
import { putPolicy } from '../policy/policies.js';
import { newInvocation } from '../testing/new-invocation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { getHold } from './read-holds.js';
import { useApproval } from './use-approval.js';
import { voteOnHold } from './vote-on-hold.js';

const store = await openTestStore();
const document = { version: '1.0', boundary: 'deny_by_default' } as const;
const { policy_hash } = boundBy(document, CLOSED_INSTALLATION);
const OTHER = hashJson('other');
const admin = { key_id: 'key_1', tenant: 'acme', actor: 'root', roles: ['admin' as const] };

beforeAll(async () => {
  await putPolicy(store, admin, 'acme', document);
});

async function held(): Promise<NewInvocation> {
  const { decision } = newInvocation();
  const hold: Decision = { ...decision, effect: 'hold', allowed: false, policy_hash };
  const row = newInvocation({ status: 'held', decision: hold, policy_hash, expires_in_ms: 60_000 });
  await insertInvocations(store, [row]);
  return row;
}

async function released(): Promise<NewInvocation> {
  const row = await held();
  const { inputs, input_hash, descriptor_hash, decision, runner, idempotent } = row;
  const voted = await store.db.transaction().execute((db) =>
    voteOnHold(db, {
      tenant: row.tenant,
      hold_id: holdIdOf(row.invocation_id),
      voter: { actor: 'bob', roles: ['operate'] },
      comment: null,
      proposal: { inputs, input_hash, descriptor_hash, policy_hash, decision, runner, idempotent },
      seen_input_hash: input_hash,
    }),
  );
  expect(voted).toEqual({ kind: 'released', readied: { ids: [row.invocation_id], ready: ['exec'] } });
  return row;
}

const hashesOf = ({ input_hash, descriptor_hash }: NewInvocation) => ({ input_hash, descriptor_hash, policy_hash });

describe('an approval', () => {
  test('is valid for the released call, and its use is recorded', async () => {
    const row = await released();
    expect(await useApproval(store, row.invocation_id, hashesOf(row))).toEqual({ kind: 'valid' });
    const hold = await getHold(store.db, row.tenant, holdIdOf(row.invocation_id));
    expect(hold?.approval?.used_at).not.toBeNull();
  });

  test('does not exist if the call was never held, or nobody has voted', async () => {
    expect(await useApproval(store, 'inv_unknown', hashesOf(newInvocation()))).toEqual({ kind: 'none' });
    const row = await held();
    expect(await useApproval(store, row.invocation_id, hashesOf(row))).toEqual({ kind: 'none' });
  });

  test.each([
    ['input_hash', 'inputs'],
    ['descriptor_hash', 'tool'],
    ['policy_hash', 'policy'],
  ])('is not valid for another %s', async (name, why) => {
    const row = await released();
    const use = await useApproval(store, row.invocation_id, { ...hashesOf(row), [name]: OTHER });
    expect(use).toMatchObject({ kind: 'stale', why: expect.stringContaining(why) });
  });

  test.each([
    ['spent', sql`spent = true`, 'another run'],
    ['over', sql`approval_expires_at = now()`, 'expired'],
  ])('that is %s is not valid', async (_, change, why) => {
    const row = await released();
    await sql`UPDATE holds SET ${change} WHERE invocation_id = ${row.invocation_id}`.execute(store.db);
    const use = await useApproval(store, row.invocation_id, hashesOf(row));
    expect(use).toMatchObject({ kind: 'stale', why: expect.stringContaining(why) });
  });

  test('is void once its policy changes', async () => {
    const row = await released();
    await putPolicy(store, admin, 'acme', { ...document, global_timeout_seconds: 5 });
    const use = await useApproval(store, row.invocation_id, hashesOf(row));
    expect(use).toMatchObject({ kind: 'stale', why: expect.stringContaining('policy') });
    await putPolicy(store, admin, 'acme', document);
    expect(await useApproval(store, row.invocation_id, hashesOf(row))).toEqual({ kind: 'valid' });
  });
});

import { openRules } from '@capstan/backbone';
import type { Principal } from '@capstan/contracts';
import { getInvocation, type NewInvocation } from '@capstan/store/invocation';
import { putQuota } from '@capstan/store/quota';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { postgresDispatcher } from '../../../../packages/backbone/src/dispatchers.js';
import { memoryRelay } from '../../../../packages/queue/src/testing/memory-relay.js';
import { manyInvocations, newInvocation } from '../../../../packages/store/src/testing/new-invocation.js';
import { openTestStore } from '../../../../packages/store/src/testing/open-test-store.js';
import { Committer, lingering } from './committer.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'otto', roles: ['operate'] };
const SCOPE = 'tenant:acme';
/** Postgres takes no NUL in a text. */
const unstorable = (given: Partial<NewInvocation> = {}) => newInvocation({ ...given, actor: 'a\u0000b' });
const statusOf = async ({ invocation_id }: NewInvocation) =>
  (await getInvocation(store.db, 'acme', invocation_id))?.status;

async function openCommitter() {
  const relay = memoryRelay();
  const rules = await openRules(store, relay);
  const dispatcher = postgresDispatcher(relay);
  onTestFinished(() => {
    rules.close();
    dispatcher.close();
  });
  return { relay, committer: new Committer({ store, relay, rules, dispatcher }, () => 0) };
}

beforeEach(async () => {
  await store.db.deleteFrom('quotas').execute();
});

describe('a submission among others', () => {
  test('waits for more while most calls are on their way', () => {
    expect(lingering(true, 24, 50)).toBeGreaterThan(0);
  });

  test('waits no longer once half of the calls are gathered', () => {
    expect(lingering(true, 25, 50)).toBe(0);
  });

  test.each([
    ['was alone in the last write', false, 1, 50],
    ['has no request that waits for a result', true, 1, 0],
  ] as const)('is written at once if it %s', (_, company, gathered, awaited) => {
    expect(lingering(company, gathered, awaited)).toBe(0);
  });
});

describe('a committer', () => {
  test('commits calls that come together as one, and says once that they are ready', async () => {
    const { relay, committer } = await openCommitter();
    const rows = manyInvocations(5);
    const committed = await Promise.all(rows.map((row) => committer.one(row)));
    const times = new Set(committed.map((each) => each.kind === 'new' && each.created_at));
    expect(times.size).toBe(1);
    expect(relay.published).toEqual([{ topic: 'ready', ids: ['exec'] }]);
    expect(await Promise.all(rows.map(statusOf))).toEqual(rows.map(() => 'queued'));
  });

  test('answers a call whose idempotency key is taken with the first invocation, also within one commit', async () => {
    const { committer } = await openCommitter();
    const keyed = () => newInvocation({ idempotency_key: 'once' });
    const [first, second, third] = [keyed(), keyed(), keyed()];
    const known = { kind: 'known', invocation: { invocation_id: first.invocation_id } };
    const together = await Promise.all([committer.one(first), committer.one(second)]);
    expect(together).toMatchObject([{ kind: 'new' }, known]);
    expect(await committer.one(third)).toMatchObject(known);
    expect(await statusOf(second)).toBeUndefined();
  });

  test('keeps idempotency keys of tenants apart', async () => {
    const { committer } = await openCommitter();
    const of = (tenant: string) => newInvocation({ tenant, idempotency_key: 'shared' });
    expect(await committer.one(of('acme'))).toMatchObject({ kind: 'new' });
    expect(await committer.one(of('other'))).toMatchObject({ kind: 'new' });
  });

  test('fails a call that cannot be stored alone, and commits those that came with it', async () => {
    const { committer } = await openCommitter();
    const [before, after] = manyInvocations(2);
    if (!before || !after) throw new Error('two were asked for');
    const outcomes = await Promise.allSettled([before, unstorable(), after].map((row) => committer.one(row)));
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { kind: 'INVALID_REQUEST' } },
      { status: 'fulfilled' },
    ]);
    expect([await statusOf(before), await statusOf(after)]).toEqual(['queued', 'queued']);
  });

  test('commits nothing of a bulk in which one call cannot be stored', async () => {
    const { committer } = await openCommitter();
    const run = { run_id: 'run_bulk', tenant: 'acme', actor: 'ann' };
    const [good, bad] = [newInvocation({ run_id: run.run_id }), unstorable({ run_id: run.run_id })];
    await expect(committer.many([good, bad], run)).rejects.toMatchObject({ kind: 'INVALID_REQUEST' });
    expect(await statusOf(good)).toBeUndefined();
  });

  test.each([
    ['is deferred', { status: 'deferred', delay_ms: 60_000 }],
    ['expires', { expires_in_ms: 60_000 }],
  ] as const)('tells the coordinator of a call that %s', async (_, given) => {
    const { relay, committer } = await openCommitter();
    await committer.one(newInvocation(given));
    expect(relay.published).toContainEqual({ topic: 'due', ids: ['now'] });
  });
});

describe('a quota that denies', () => {
  const counted = (given: Partial<NewInvocation> = {}) => newInvocation({ quota_scopes: [SCOPE], ...given });

  test('lets through as many calls as it has room for, says what is left, and keeps the others as denied', async () => {
    await putQuota(store, operator, SCOPE, { max_concurrent: 2, on_exceed: 'deny' });
    const { committer } = await openCommitter();
    const rows = [counted(), counted(), counted()];
    const committed = await Promise.all(rows.map((row) => committer.one(row)));
    expect(rows.map(({ status }) => status)).toEqual(['queued', 'queued', 'denied']);
    expect(rows[2]?.decision).toMatchObject({ effect: 'deny', code: 'QUOTA_EXCEEDED' });
    expect(committed[0]).toMatchObject({ kind: 'new', room: { scope: SCOPE, limit: 'max_concurrent', left: 0 } });
    expect(await Promise.all(rows.map(statusOf))).toEqual(['queued', 'queued', 'denied']);
  });

  test('leaves calls as they were if their commit fails, so that they can be tried again', async () => {
    await putQuota(store, operator, SCOPE, { calls_per_day: 0, on_exceed: 'deny' });
    const { committer } = await openCommitter();
    const row = counted({ idempotency_key: 'again' });
    const { status, decision } = row;
    const run = { run_id: 'run_counted', tenant: 'acme', actor: 'ann' };
    await expect(committer.many([row, unstorable()], run)).rejects.toMatchObject({ kind: 'INVALID_REQUEST' });
    expect(row).toMatchObject({ status, decision, idempotency_key: 'again' });
  });
});

test('a quota that defers says what is left, and counts nothing itself', async () => {
  await putQuota(store, operator, 'actor:ann', { calls_per_day: 7, on_exceed: 'defer' });
  const { committer } = await openCommitter();
  const row = newInvocation({ quota_scopes: ['actor:ann'], status: 'deferred' });
  expect(await committer.one(row)).toMatchObject({ kind: 'new', room: { limit: 'calls_per_day', left: 7 } });
});

import type { Principal } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { rescueClaims } from '../claim/rescue-claims.js';
import { insertInStatus } from '../testing/insert-in-status.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimOne, endOne, startOne } from '../testing/run-one.js';
import { settleAndTell } from '../testing/settle-and-tell.js';
import { keepLease } from '../worker/worker-lease.js';
import { cancelInvocations } from './cancel-invocations.js';
import { expireInvocations } from './expire-invocations.js';
import { insertInvocations, type NewInvocation } from './insert-invocations.js';
import { nextDeadline, promoteDeferred } from './promote-deferred.js';
import { getInvocation } from './read-invocations.js';
import { redriveInvocations } from './redrive-invocations.js';
import { resolveInvocation } from './resolve-invocation.js';

const store = await openTestStore();
const NOTHING = { ids: [], ready: [] };
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const read = (id: string) => getInvocation(store.db, 'acme', id);
const audit = (subject: string) =>
  store.db
    .selectFrom('audit')
    .select(['event', 'actor', 'detail'])
    .where('subject', '=', subject)
    .where('event', 'not in', ['invocation.submit', 'invocation.hold', 'invocation.end'])
    .execute();
const resultsOf = (id: string) => store.db.selectFrom('results').selectAll().where('invocation_id', '=', id).execute();
const insert = async (given: Partial<NewInvocation>) => {
  const row = newInvocation(given);
  await insertInvocations(store, [row]);
  return row.invocation_id;
};
/** Moves the clock on, for one row. */
const pass = (id: string, column: 'run_at' | 'expires_at') =>
  sql`UPDATE work SET ${sql.ref(column)} = now() - interval '1 millisecond' WHERE invocation_id = ${id}`.execute(
    store.db,
  );

afterEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, workers`.execute(store.db));

describe('a deferred invocation', () => {
  test('is queued when its time has come, not before', async () => {
    const id = await insert({ status: 'deferred', delay_ms: 60_000, priority: 3 });
    expect(await promoteDeferred(store, 10)).toEqual(NOTHING);
    await pass(id, 'run_at');
    expect(await promoteDeferred(store, 10)).toEqual({ ids: [id], ready: ['exec'] });
    expect(await read(id)).toMatchObject({ status: 'queued' });
    expect(await promoteDeferred(store, 10)).toEqual(NOTHING);
    expect(await claimOne(store, await liveWorker(store), id)).toMatchObject({ attempt: 1, priority: 3 });
  });

  test('reports how long it waits, also beside one that expires earlier or later', async () => {
    expect(await nextDeadline(store)).toBeNull();
    await insert({ status: 'deferred', delay_ms: 50_000 });
    const alone = await nextDeadline(store);
    expect(alone).toBeGreaterThan(20_000);
    expect(alone).toBeLessThanOrEqual(50_000);
    await insert({ expires_in_ms: 90_000 });
    expect(await nextDeadline(store)).toBeGreaterThan(20_000);
    const soon = await insert({ expires_in_ms: 10_000 });
    expect(await nextDeadline(store)).toBeLessThanOrEqual(10_000);
    await pass(soon, 'expires_at');
    expect(await nextDeadline(store)).toBe(0);
  });
});

describe('an invocation past its expiry', () => {
  test.each(['held', 'deferred', 'queued'] as const)('that is %s expires', async (status) => {
    const id = await insert({ status, expires_in_ms: 60_000, ...(status === 'deferred' ? { delay_ms: 70_000 } : {}) });
    expect(await expireInvocations(store, 10)).toEqual([]);
    await pass(id, 'expires_at');
    expect(await expireInvocations(store, 10)).toEqual([id]);
    expect(await read(id)).toMatchObject({ status: 'expired', finished_at: expect.any(String) });
  });

  test('continues if it is already running', async () => {
    const { claimed } = await startOne(store, { expires_in_ms: 60_000 });
    await sql`UPDATE invocations SET expires_at = now()`.execute(store.db);
    expect(await expireInvocations(store, 10)).toEqual([]);
    expect(await settleAndTell(store, [newSettlement(claimed)])).toEqual([true]);
  });

  test('expires once, and at most the given number at a time', async () => {
    await insertInvocations(store, manyInvocations(5, { expires_in_ms: 1 }));
    await sql`UPDATE work SET expires_at = now()`.execute(store.db);
    const rounds = [
      await expireInvocations(store, 3),
      await expireInvocations(store, 3),
      await expireInvocations(store, 3),
    ];
    expect(rounds.map((ids) => ids.length)).toEqual([3, 2, 0]);
    expect(new Set(rounds.flat()).size).toBe(5);
  });
});

describe('a cancel', () => {
  test.each(['held', 'deferred', 'queued'] as const)('ends calls that are %s', async (status) => {
    const id = await insert({ status, delay_ms: 60_000 });
    expect(await cancelInvocations(store, operator, { invocation_id: id })).toEqual([
      { invocation_id: id, status: 'canceled' },
    ]);
    expect(await read(id)).toMatchObject({ status: 'canceled', finished_at: expect.any(String), result: null });
    expect(await audit(id)).toEqual([{ event: 'invocation.cancel', actor: 'ann', detail: {} }]);
  });

  test('marks running calls, and their worker learns of it with its heartbeat', async () => {
    const { worker_id, claimed } = await startOne(store);
    const id = claimed.invocation_id;
    expect((await keepLease(store, worker_id, 60_000)).cancel).toEqual([]);
    expect(await cancelInvocations(store, operator, { invocation_id: id })).toEqual([
      { invocation_id: id, status: 'running' },
    ]);
    expect(await read(id)).toMatchObject({ status: 'running', finished_at: null });
    expect((await keepLease(store, worker_id, 60_000)).cancel).toEqual([id]);
    await settleAndTell(store, [newSettlement(claimed, { status: 'canceled' })]);
    expect((await keepLease(store, worker_id, 60_000)).cancel).toEqual([]);
    expect(await read(id)).toMatchObject({ status: 'canceled' });
  });

  test('reaches the calls that match the filter, and returns the status of each', async () => {
    await insertInvocations(store, [
      newInvocation({ session_id: 'mine' }),
      newInvocation({ session_id: 'mine', status: 'held' }),
      newInvocation({ session_id: 'other' }),
    ]);
    await endOne(store, 'succeeded', { session_id: 'mine' });
    const canceled = await cancelInvocations(store, operator, { session_id: 'mine' });
    expect(canceled.map((row) => row.status)).toEqual(['canceled', 'canceled']);
  });

  test('reaches fifteen thousand at once', async () => {
    await insertInvocations(store, manyInvocations(15_000));
    expect(await cancelInvocations(store, operator, {})).toHaveLength(15_000);
  });
});

describe('a redrive', () => {
  test.each(['failed', 'timed_out'] as const)(
    'of calls that are %s deletes the result and keeps its hash',
    async (status) => {
      const { invocation_id } = await endOne(store, status, { expires_in_ms: 60_000 });
      expect(await redriveInvocations(store, operator, { invocation_id })).toEqual({
        ids: [invocation_id],
        ready: ['exec'],
      });
      expect(await read(invocation_id)).toMatchObject({
        status: 'queued',
        finished_at: null,
        expires_at: null,
        result: null,
      });
      expect(await resultsOf(invocation_id)).toEqual([]);
      expect(await audit(invocation_id)).toEqual([
        {
          event: 'invocation.redrive',
          actor: 'ann',
          detail: { after_attempt: 1, replaced_output_hash: hashJson({ sum: 3 }) },
        },
      ]);
    },
  );

  test('restarts the count of attempts', async () => {
    const { invocation_id } = await endOne(store, 'failed', { max_attempts: 1 });
    await redriveInvocations(store, operator, { invocation_id });
    const worker_id = await liveWorker(store);
    const again = await claimOne(store, worker_id, invocation_id);
    expect(again).toMatchObject({ attempt: 2, first_attempt: 2 });
    await settleAndTell(store, [newSettlement(again)]);
    expect(await read(invocation_id)).toMatchObject({ status: 'succeeded', attempt: 2, result: { success: true } });
    expect(await resultsOf(invocation_id)).toHaveLength(1);
  });

  test('skips a replay, which executes nothing', async () => {
    const run = { run_id: 'run_replayed', tenant: operator.tenant, actor: 'ann' };
    const row = newInvocation({ run_id: run.run_id });
    await insertInStatus(store, [{ ...row, status: 'failed' }], run);
    await store.db.updateTable('runs').set({ mode: 'replay' }).where('run_id', '=', run.run_id).execute();
    expect(await redriveInvocations(store, operator, { invocation_id: row.invocation_id })).toEqual(NOTHING);
  });

  test('refuses a settlement of the earlier attempt', async () => {
    const { worker_id, claimed } = await startOne(store, { idempotent: false });
    await endLease(store, worker_id);
    await rescueClaims(store, 10);
    await redriveInvocations(store, operator, { invocation_id: claimed.invocation_id });
    await claimOne(store, await liveWorker(store), claimed.invocation_id);
    expect(await settleAndTell(store, [newSettlement(claimed)])).toEqual([false]);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'running', attempt: 2 });
  });

  test('drops an earlier cancel request', async () => {
    const { worker_id, claimed } = await startOne(store, { idempotent: false });
    await cancelInvocations(store, operator, {});
    await endLease(store, worker_id);
    await rescueClaims(store, 10);
    await redriveInvocations(store, operator, { invocation_id: claimed.invocation_id });
    const next = await liveWorker(store);
    await claimOne(store, next, claimed.invocation_id);
    expect((await keepLease(store, next, 60_000)).cancel).toEqual([]);
  });

  test('of calls that cannot be redriven moves nothing', async () => {
    const { invocation_id } = await endOne(store, 'succeeded');
    expect(await redriveInvocations(store, operator, { invocation_id })).toEqual(NOTHING);
    expect(await redriveInvocations(store, operator, { invocation_id: 'inv_none' })).toEqual(NOTHING);
  });

  test('by filter reaches all matching calls', async () => {
    await Promise.all([endOne(store, 'failed'), endOne(store, 'timed_out'), endOne(store, 'ambiguous')]);
    const { ids } = await redriveInvocations(store, operator, { status: ['failed', 'ambiguous', 'succeeded'] });
    expect(ids).toHaveLength(2);
    expect(await redriveInvocations(store, operator, { status: ['queued', 'succeeded'] })).toEqual(NOTHING);
  });
});

describe('an ambiguous invocation', () => {
  test.each([
    { outcome: 'succeeded', result: { success: true, error: null, code: null, payload: null } },
    { outcome: 'failed', result: { success: false, error: 'I looked', code: 2009, payload: null } },
  ] as const)('is $outcome when a person says so, once', async ({ outcome, result }) => {
    const { invocation_id } = await endOne(store, 'ambiguous');
    const resolution = { outcome, comment: 'I looked' };
    expect(await resolveInvocation(store, operator, invocation_id, resolution)).toBe(true);
    expect(await read(invocation_id)).toMatchObject({ status: outcome, result });
    expect(await audit(invocation_id)).toEqual([{ event: 'invocation.resolve', actor: 'ann', detail: resolution }]);
    expect(await resolveInvocation(store, operator, invocation_id, resolution)).toBe(false);
    expect(await audit(invocation_id)).toHaveLength(1);
  });

  test('may be run again instead, and be resolved after that', async () => {
    const { invocation_id } = await endOne(store, 'ambiguous');
    await redriveInvocations(store, operator, { invocation_id });
    const again = await claimOne(store, await liveWorker(store), invocation_id);
    await settleAndTell(store, [newSettlement(again, { status: 'ambiguous' })]);
    expect(await resolveInvocation(store, operator, invocation_id, { outcome: 'failed', comment: 'no' })).toBe(true);
    expect(await redriveInvocations(store, operator, { invocation_id })).toMatchObject({ ids: [invocation_id] });
  });

  test('resolved by two people at once is resolved by one', async () => {
    const { invocation_id } = await endOne(store, 'ambiguous');
    const says = (outcome: 'succeeded' | 'failed') =>
      resolveInvocation(store, operator, invocation_id, { outcome, comment: 'I know' });
    expect((await Promise.all([says('succeeded'), says('failed')])).filter(Boolean)).toHaveLength(1);
  });
});

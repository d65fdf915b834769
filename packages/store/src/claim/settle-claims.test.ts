import { hashJson } from '@capstan/integrity';
import { describe, expect, test } from 'vitest';
import { listAudit } from '../audit/read-audit.js';
import { cancelInvocations } from '../invocation/cancel-invocations.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { getInvocation, listAttempts } from '../invocation/read-invocations.js';
import { claimByIds } from '../testing/claim-by-ids.js';
import { handOver } from '../testing/hand-over.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimOne, startOne } from '../testing/run-one.js';
import { settleAndTell } from '../testing/settle-and-tell.js';
import { readClaims } from './own-claims.js';
import { rescueClaims } from './rescue-claims.js';
import { settleClaims } from './settle-claims.js';

const store = await openTestStore();
const read = (id: string) => getInvocation(store.db, 'acme', id);
const attempts = async (id: string) => (await listAttempts(store.db, id)).map(({ outcome, error }) => [outcome, error]);
const results = (id: string) =>
  store.db
    .selectFrom('results')
    .select(['attempt', 'payload'])
    .where('invocation_id', '=', id)
    .where('success', 'is not', null)
    .execute();
const availableAt = (id: string) =>
  store.db
    .selectFrom('work')
    .select(['available_at', 'first_attempt'])
    .where('invocation_id', '=', id)
    .executeTakeFirst();
const operator = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: [] };

/** An invocation whose first worker was lost and that a second one runs; the first attempt is stale. */
async function startTwice() {
  const { worker_id, claimed: stale } = await startOne(store);
  await endLease(store, worker_id);
  await rescueClaims(store, 10);
  const current = await claimOne(store, await liveWorker(store), stale.invocation_id);
  return { id: stale.invocation_id, stale, current };
}

describe('the end of an attempt', () => {
  test('is stored completely', async () => {
    const { claimed } = await startOne(store);
    const settlement = newSettlement(claimed, {
      status: 'failed',
      error: 'exit 3',
      result: {
        payload: ['out'],
        code: 2003,
        declared_side_effects: ['fs.write'],
        artifacts: [{ sha256: '0'.repeat(64), name: 'a', media_type: 'text/plain', size: 1 }],
        facts: { cost_units: 2 },
        duration_ms: 12.345,
        exit_code: 3,
        truncated: true,
      },
    });
    expect(await settleAndTell(store, [settlement])).toEqual([true]);
    const invocation = await read(claimed.invocation_id);
    expect(invocation).toMatchObject({ status: 'failed', attempt: 1, finished_at: expect.any(String) });
    expect(invocation?.result).toEqual({
      ...settlement.result,
      error: 'exit 3',
      output_hash: hashJson(['out']),
      chain_hash: null,
    });
    const [attempt] = await listAttempts(store.db, claimed.invocation_id);
    expect(attempt).toMatchObject({ outcome: 'failed', error: 'exit 3', ended_at: invocation?.finished_at });
  });

  test.each(['succeeded', 'failed', 'timed_out', 'canceled'] as const)('as %s leaves a result', async (status) => {
    const { claimed } = await startOne(store);
    await settleAndTell(store, [newSettlement(claimed, { status })]);
    expect(await read(claimed.invocation_id)).toMatchObject({ status, result: { success: status === 'succeeded' } });
  });

  test.each(['ambiguous', 'denied'] as const)('as %s leaves no result', async (status) => {
    const { claimed } = await startOne(store);
    await settleAndTell(store, [newSettlement(claimed, { status })]);
    expect(await read(claimed.invocation_id)).toMatchObject({ status, result: null, finished_at: expect.any(String) });
    expect(await results(claimed.invocation_id)).toEqual([]);
  });

  test('is in the audit, with how it ended, how long it took and its exit code', async () => {
    const { claimed } = await startOne(store);
    const { invocation_id } = claimed;
    await settleAndTell(store, [newSettlement(claimed, { status: 'failed', result: { exit_code: 3 } })]);
    const { items } = await listAudit(store.db, 'acme', { subject: invocation_id }, { limit: 10, cursor: undefined });
    const [end] = items.filter(({ event }) => event === 'invocation.end');
    expect(end).toMatchObject({
      actor: 'ann',
      detail: { calls: { [invocation_id]: { status: 'failed', duration_ms: 1.5, exit_code: 3 } } },
    });
  });

  test('is the same whether a batch ends alike or not', async () => {
    const { receipt, ids } = await handOver(
      store,
      { worker_id: await liveWorker(store), owned: true },
      manyInvocations(3),
    );
    const calls = await readClaims(store, receipt.worker_id ?? '', [receipt.claim_id]);
    const [one, two, three] = calls.map((call) => newSettlement(call, { result: { duration_ms: 12.5, exit_code: 0 } }));
    if (!one || !two || !three) throw new Error('its worker does not have them');
    expect(await settleClaims(store, [one], () => false)).toMatchObject([{ status: 'succeeded' }]);
    expect(await settleClaims(store, [two, three], () => true)).toMatchObject([
      { status: 'succeeded' },
      { status: 'succeeded' },
    ]);
    const [first, ...others] = await Promise.all(ids.map(read));
    for (const other of others) {
      expect(other?.result).toEqual(first?.result);
      expect(other).toMatchObject({ status: 'succeeded', attempt: 1 });
    }
    const { items } = await listAudit(store.db, 'acme', {}, { limit: 2 });
    const told = { status: 'succeeded', duration_ms: 12.5, exit_code: 0 };
    expect(items.map(({ event, subject, detail }) => [event, subject, detail])).toEqual([
      ['invocation.end', [ids[1], ids[2]].sort()[0], { calls: { [ids[1] ?? '']: told, [ids[2] ?? '']: told } }],
      ['invocation.end', ids[0], { calls: { [ids[0] ?? '']: told } }],
    ]);
  });

  test('is written for 500 calls at once, each with its own result', async () => {
    const rows = manyInvocations(500);
    await insertInvocations(store, rows);
    const claimed = await claimByIds(
      store,
      await liveWorker(store),
      rows.map((row) => row.invocation_id),
    );
    const settled = claimed.map((row) => newSettlement(row, { result: { payload: row.invocation_id } }));
    expect(await settleAndTell(store, settled)).toEqual(rows.map(() => true));
    const kept = await store.db.selectFrom('results').select(['invocation_id', 'payload']).execute();
    const mine = kept.filter((row) => rows.some((one) => one.invocation_id === row.invocation_id));
    expect(mine).toHaveLength(500);
    expect(mine.filter((row) => row.payload !== row.invocation_id)).toEqual([]);
  });
});

describe('an attempt handed back', () => {
  test('waits for its backoff, by the clock of Postgres', async () => {
    const { claimed } = await startOne(store);
    await settleAndTell(store, [newSettlement(claimed, { status: 'queued', backoff_ms: 60_000 })]);
    const [attempt] = await listAttempts(store.db, claimed.invocation_id);
    const waits = await availableAt(claimed.invocation_id);
    expect(Date.parse(waits?.available_at ?? '') - Date.parse(attempt?.ended_at ?? '')).toBe(60_000);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'queued', finished_at: null, result: null });
  });

  test('without a backoff is ready at once', async () => {
    const { claimed } = await startOne(store);
    await settleAndTell(store, [newSettlement(claimed, { status: 'queued' })]);
    expect(await availableAt(claimed.invocation_id)).toEqual({ available_at: null, first_attempt: 1 });
  });

  test('by a worker that shuts down does not count', async () => {
    const { claimed } = await startOne(store);
    await settleAndTell(store, [newSettlement(claimed, { status: 'queued', outcome: 'handed_back' })]);
    expect(await claimOne(store, await liveWorker(store), claimed.invocation_id)).toMatchObject({
      attempt: 2,
      first_attempt: 2,
    });
  });

  test('ends canceled if a cancel was requested, and does not run again', async () => {
    const { claimed } = await startOne(store);
    await cancelInvocations(store, operator, { invocation_id: claimed.invocation_id });
    await settleAndTell(store, [newSettlement(claimed, { status: 'queued', backoff_ms: 1 })]);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'canceled' });
  });
});

describe('a late settlement', () => {
  test('is refused and on record; the one result is that of the current attempt', async () => {
    const { id, stale, current } = await startTwice();
    expect(await settleAndTell(store, [newSettlement(stale, { result: { payload: 'late' } })])).toEqual([false]);
    expect(await read(id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(await results(id)).toEqual([]);

    expect(await settleAndTell(store, [newSettlement(current, { result: { payload: 'right' } })])).toEqual([true]);
    expect(await results(id)).toEqual([{ attempt: 2, payload: 'right' }]);
    expect(await attempts(id)).toEqual([
      ['refused', 'settled too late: succeeded'],
      ['succeeded', null],
    ]);
  });

  test('after the end changes nothing', async () => {
    const { id, stale, current } = await startTwice();
    await settleAndTell(store, [newSettlement(current, { result: { payload: 'right' } })]);
    const late = newSettlement(stale, { status: 'queued', backoff_ms: 1 });
    expect(await settleAndTell(store, [late])).toEqual([false]);
    expect(await read(id)).toMatchObject({ status: 'succeeded', result: { payload: 'right' } });
    expect(await results(id)).toHaveLength(1);
  });

  test('in a batch with others is refused alone', async () => {
    const { stale } = await startTwice();
    const others = await Promise.all([startOne(store), startOne(store)]);
    const [first, last] = others.map(({ claimed }) => newSettlement(claimed));
    const batch = [first, newSettlement(stale), last].flatMap((one) => (one ? [one] : []));
    expect(await settleAndTell(store, batch)).toEqual([true, false, true]);
  });

  test.each([
    { order: 'before', latest_first: false },
    { order: 'after', latest_first: true },
  ])('in a batch $order the current attempt of the same invocation is refused alone', async ({ latest_first }) => {
    const { id, stale, current } = await startTwice();
    const batch = [
      newSettlement(stale, { result: { payload: 'late' } }),
      newSettlement(current, { result: { payload: 'right' } }),
    ];
    const taken = await settleAndTell(store, latest_first ? batch.toReversed() : batch);
    expect(latest_first ? taken.toReversed() : taken).toEqual([false, true]);
    expect(await results(id)).toEqual([{ attempt: 2, payload: 'right' }]);
    expect((await attempts(id)).map(([outcome]) => outcome)).toEqual(['refused', 'succeeded']);
  });

  test('sent again after it was refused is refused again', async () => {
    const { id, stale } = await startTwice();
    const late = newSettlement(stale);
    expect([await settleAndTell(store, [late]), await settleAndTell(store, [late])]).toEqual([[false], [false]]);
    expect((await attempts(id)).map(([outcome]) => outcome)).toEqual(['refused', null]);
  });

  test('that names a receipt that was never written is refused', async () => {
    const { claimed } = await startOne(store);
    expect(await settleAndTell(store, [newSettlement({ ...claimed, claim_id: 'clm_none' })])).toEqual([false]);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'running', attempt: 1 });
  });

  test('of an unknown invocation is refused', async () => {
    const { claimed } = await startOne(store);
    const unknown = newSettlement({ ...claimed, invocation_id: 'inv_none' });
    expect(await settleClaims(store, [unknown])).toEqual([null]);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'running' });
  });
});

describe('a settlement sent twice, because its response was lost', () => {
  test.each(['succeeded', 'canceled', 'denied'] as const)('as %s is taken both times and kept once', async (status) => {
    const { claimed } = await startOne(store);
    const settlement = newSettlement(claimed, { status });
    expect(await settleAndTell(store, [settlement])).toEqual([true]);
    expect(await settleAndTell(store, [settlement])).toEqual([true]);
    expect(await attempts(claimed.invocation_id)).toEqual([[status, settlement.error]]);
    expect(await results(claimed.invocation_id)).toHaveLength(status === 'denied' ? 0 : 1);
  });

  test('as a retry does not count twice, nor disturb the next attempt', async () => {
    const { claimed } = await startOne(store);
    const retry = newSettlement(claimed, { status: 'queued', outcome: 'handed_back' });
    await settleAndTell(store, [retry]);
    expect(await settleAndTell(store, [retry])).toEqual([true]);
    const next = await claimOne(store, await liveWorker(store), claimed.invocation_id);
    expect(next).toMatchObject({ attempt: 2, first_attempt: 2 });
    expect(await settleAndTell(store, [retry])).toEqual([true]);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'running', attempt: 2 });
  });

  test('by several at once leaves one result', async () => {
    const { claimed } = await startOne(store);
    const settle = (payload: string) => settleAndTell(store, [newSettlement(claimed, { result: { payload } })]);
    await Promise.all(['a', 'b', 'c', 'd'].map(settle));
    expect(await results(claimed.invocation_id)).toHaveLength(1);
    expect(await attempts(claimed.invocation_id)).toEqual([['succeeded', null]]);
  });
});

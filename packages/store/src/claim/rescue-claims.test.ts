import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { cancelInvocations } from '../invocation/cancel-invocations.js';
import { insertInvocations, type NewInvocation } from '../invocation/insert-invocations.js';
import { getInvocation, listAttempts } from '../invocation/read-invocations.js';
import { claimByIds } from '../testing/claim-by-ids.js';
import { handOver } from '../testing/hand-over.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { placesOf } from '../testing/places-of.js';
import { claimOne, startOne } from '../testing/run-one.js';
import { claimNext } from './claim-next.js';
import { rescueClaims } from './rescue-claims.js';
import { settleClaims } from './settle-claims.js';

const store = await openTestStore();
const NOTHING = { ids: [], ready: [], ended: [], moved: [] };
const operator = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: [] };
const read = (id: string) => getInvocation(store.db, 'acme', id);

/** An invocation whose worker is gone. */
async function lose(given: Partial<NewInvocation> = {}): Promise<string> {
  const { worker_id, claimed } = await startOne(store, given);
  await endLease(store, worker_id);
  return claimed.invocation_id;
}

afterEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, workers`.execute(store.db));

describe('a call that a lost worker ran', () => {
  test('is queued again when it is idempotent and has attempts left', async () => {
    const id = await lose({ priority: 7 });
    expect(await rescueClaims(store, 10)).toEqual({
      ids: [id],
      ready: ['exec'],
      ended: [],
      moved: [expect.objectContaining({ runner: 'exec', status: 'queued' })],
    });
    expect(await read(id)).toMatchObject({ status: 'queued', attempt: 1, finished_at: null, result: null });
    expect(await listAttempts(store.db, id)).toMatchObject([
      { attempt: 1, outcome: 'lost', error: 'the worker was lost', ended_at: expect.any(String) },
    ]);
    expect(await claimOne(store, await liveWorker(store), id)).toMatchObject({ attempt: 2, first_attempt: 1 });
  });

  test('fails with a result when its attempts are used up', async () => {
    const id = await lose({ max_attempts: 1 });
    expect(await rescueClaims(store, 10)).toEqual({
      ids: [],
      ready: [],
      ended: [id],
      moved: [expect.objectContaining({ runner: 'exec', status: 'failed' })],
    });
    const input_hash = hashJson({ a: 1 });
    expect(await read(id)).toMatchObject({
      status: 'failed',
      finished_at: expect.any(String),
      result: { success: false, payload: null, code: 2006, input_hash, output_hash: hashJson(null) },
    });
  });

  test('fails on the last of several attempts, not before', async () => {
    const { worker_id, claimed } = await startOne(store, { max_attempts: 2 });
    await endLease(store, worker_id);
    await rescueClaims(store, 10);
    const second = await liveWorker(store);
    await claimOne(store, second, claimed.invocation_id);
    await endLease(store, second);
    await rescueClaims(store, 10);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'failed', attempt: 2 });
    expect((await listAttempts(store.db, claimed.invocation_id)).map((one) => one.outcome)).toEqual(['lost', 'lost']);
  });

  test('is not failed for attempts that were handed back', async () => {
    const { claimed } = await startOne(store, { max_attempts: 2 });
    await settleClaims(store, [newSettlement(claimed, { status: 'queued', outcome: 'handed_back' })]);
    const second = await liveWorker(store);
    await claimOne(store, second, claimed.invocation_id);
    await endLease(store, second);
    await rescueClaims(store, 10);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'queued', attempt: 2 });
  });

  test('is ambiguous when it may have taken effect, attempts left or not', async () => {
    const ids = await Promise.all([lose({ idempotent: false }), lose({ idempotent: false, max_attempts: 1 })]);
    const { ready, ended } = await rescueClaims(store, 10);
    expect([ready, ended.sort()]).toEqual([[], ids.sort()]);
    for (const id of ids) expect(await read(id)).toMatchObject({ status: 'ambiguous', result: null });
  });

  test('is canceled when that was asked for, and it cannot have taken effect twice', async () => {
    const [idempotent, other] = await Promise.all([startOne(store), startOne(store, { idempotent: false })]);
    await cancelInvocations(store, operator, {});
    await Promise.all([idempotent, other].map(({ worker_id }) => endLease(store, worker_id)));
    await rescueClaims(store, 10);
    expect(await read(idempotent.claimed.invocation_id)).toMatchObject({ status: 'canceled', result: null });
    expect(await read(other.claimed.invocation_id)).toMatchObject({ status: 'ambiguous' });
  });

  test('is audited', async () => {
    const id = await lose();
    await rescueClaims(store, 10);
    const events = await store.db.selectFrom('audit').selectAll().where('subject', '=', id).orderBy('seq').execute();
    expect(events).toMatchObject([
      { event: 'invocation.submit', detail: { calls: { 'cap:test_math:add': { [id]: expect.any(String) } } } },
      { tenant: 'acme', actor: 'coordinator', event: 'invocation.rescue', detail: { lost_attempt: 1, now: 'queued' } },
    ]);
  });
});

describe('a call that a lost worker had not started', () => {
  test('goes back to work without an attempt counted, whether it may be repeated or not', async () => {
    const worker_id = await liveWorker(store);
    const { ids } = await handOver(store, { worker_id }, [newInvocation({ idempotent: false, max_attempts: 1 })]);
    await endLease(store, worker_id);
    expect(await rescueClaims(store, 10)).toEqual({
      ids,
      ready: ['exec'],
      ended: [],
      moved: [expect.objectContaining({ runner: 'exec', status: 'queued' })],
    });
    const [id = ''] = ids;
    expect(await placesOf(store, id)).toEqual(['work']);
    expect(await read(id)).toMatchObject({ status: 'queued', attempt: 0 });
    expect(await listAttempts(store.db, id)).toEqual([]);
    expect(await claimOne(store, await liveWorker(store), id)).toMatchObject({ attempt: 1, first_attempt: 1 });
  });

  test('is not audited, because nothing happened to it', async () => {
    const worker_id = await liveWorker(store);
    const { ids } = await handOver(store, { worker_id });
    await endLease(store, worker_id);
    await rescueClaims(store, 10);
    const events = await sql`SELECT FROM audit WHERE event = 'invocation.rescue' AND subject = ANY (${ids})`.execute(
      store.db,
    );
    expect(events.rows).toEqual([]);
  });

  test('on its way through the queue, without a worker, is left to the queue', async () => {
    const worker_id = await liveWorker(store);
    await endLease(store, worker_id);
    const { ids } = await handOver(store);
    expect(await rescueClaims(store, 10)).toEqual(NOTHING);
    expect(await placesOf(store, ids[0] ?? '')).toEqual(['claims']);
  });
});

test('on a receipt with ended calls is moved alone', async () => {
  await insertInvocations(store, manyInvocations(3));
  const worker_id = await liveWorker(store);
  const [ended, running, other] = await claimNext(store, worker_id, 'exec', 3);
  if (!ended || !running || !other) throw new Error('not all were claimed');
  await settleClaims(store, [newSettlement(ended)]);
  await endLease(store, worker_id);
  const { ids, moved } = await rescueClaims(store, 10);
  expect(moved).toHaveLength(2);
  expect(ids.sort()).toEqual([running.invocation_id, other.invocation_id].sort());
  expect(await placesOf(store, ended.invocation_id)).toEqual(['results']);
  expect(await read(ended.invocation_id)).toMatchObject({ status: 'succeeded' });
});

test('running calls of live workers and waiting calls are left alone', async () => {
  const { claimed } = await startOne(store);
  await insertInvocations(store, manyInvocations(1));
  expect(await rescueClaims(store, 10)).toEqual(NOTHING);
  expect(await read(claimed.invocation_id)).toMatchObject({ status: 'running' });
});

test('two rescues at once share the receipts, in pieces no larger than asked for', async () => {
  const rows = manyInvocations(50);
  const ids = rows.map((row) => row.invocation_id);
  await insertInvocations(store, rows);
  const worker_id = await liveWorker(store);
  await claimByIds(store, worker_id, ids);
  await endLease(store, worker_id);
  const rescueAll = async () => {
    for (let sum = 0; ; ) {
      const { length: count } = (await rescueClaims(store, 7)).moved;
      expect(count).toBeLessThanOrEqual(7);
      if (count === 0) return sum;
      sum += count;
    }
  };
  const [one, other] = await Promise.all([rescueAll(), rescueAll()]);
  expect(one + other).toBe(50);
  expect((await claimByIds(store, await liveWorker(store), ids)).map(({ attempt }) => attempt)).toEqual(
    ids.map(() => 2),
  );
});

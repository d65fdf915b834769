import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimOne, startOne } from '../testing/run-one.js';
import { cancelInvocations } from './cancel-invocations.js';
import { claimNext } from './claim-invocations.js';
import { insertInvocations, type NewInvocation } from './insert-invocations.js';
import { getInvocation, listAttempts } from './read-invocations.js';
import { rescueInvocations } from './rescue-invocations.js';
import { settleInvocations } from './settle-invocations.js';

const store = await openTestStore();
const operator = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: [] };
const read = (id: string) => getInvocation(store.db, 'acme', id);

/** An invocation whose worker is gone. */
async function lose(given: Partial<NewInvocation> = {}): Promise<string> {
  const { worker_id, claimed } = await startOne(store, given);
  await endLease(store, worker_id);
  return claimed.invocation_id;
}

afterEach(() => sql`TRUNCATE invocations, attempts, results, workers, outbox`.execute(store.db));

describe('what a lost worker ran', () => {
  test('is queued again when it is idempotent and has attempts left', async () => {
    const id = await lose({ priority: 7 });
    const delivery = { invocation_id: id, runner: 'exec', attempt: 1, priority: 7 };
    const { box, ended, count } = await rescueInvocations(store, 10);
    expect({ deliveries: box?.deliveries, ended, count }).toEqual({ deliveries: [delivery], ended: [], count: 1 });
    expect(await read(id)).toMatchObject({ status: 'queued', attempt: 1, finished_at: null, result: null });
    expect(await listAttempts(store.db, id)).toMatchObject([
      { attempt: 1, outcome: 'lost', error: 'the worker was lost', ended_at: expect.any(String) },
    ]);
    expect(await store.db.selectFrom('outbox').select(['outbox_id', 'deliveries']).execute()).toEqual([box]);
    expect(await claimOne(store, await liveWorker(store), id)).toMatchObject({ attempt: 2, first_attempt: 1 });
  });

  test('fails with a result when its attempts are used up', async () => {
    const id = await lose({ max_attempts: 1 });
    expect(await rescueInvocations(store, 10)).toEqual({ box: null, ended: [id], count: 1 });
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
    await rescueInvocations(store, 10);
    const second = await liveWorker(store);
    await claimOne(store, second, claimed.invocation_id);
    await endLease(store, second);
    await rescueInvocations(store, 10);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'failed', attempt: 2 });
    expect((await listAttempts(store.db, claimed.invocation_id)).map((one) => one.outcome)).toEqual(['lost', 'lost']);
  });

  test('is not failed for attempts that were handed back', async () => {
    const { claimed } = await startOne(store, { max_attempts: 2 });
    await settleInvocations(store, [newSettlement(claimed, { status: 'queued', outcome: 'handed_back' })]);
    const second = await liveWorker(store);
    await claimOne(store, second, claimed.invocation_id);
    await endLease(store, second);
    await rescueInvocations(store, 10);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'queued', attempt: 2 });
  });

  test('is ambiguous when it may have taken effect, attempts left or not', async () => {
    const ids = await Promise.all([lose({ idempotent: false }), lose({ idempotent: false, max_attempts: 1 })]);
    const { box, ended } = await rescueInvocations(store, 10);
    expect([box, ended.sort()]).toEqual([null, ids.sort()]);
    for (const id of ids) expect(await read(id)).toMatchObject({ status: 'ambiguous', result: null });
  });

  test('is canceled when that was asked for, and it cannot have taken effect twice', async () => {
    const [idempotent, other] = await Promise.all([startOne(store), startOne(store, { idempotent: false })]);
    await cancelInvocations(store, operator, {});
    await Promise.all([idempotent, other].map(({ worker_id }) => endLease(store, worker_id)));
    await rescueInvocations(store, 10);
    expect(await read(idempotent.claimed.invocation_id)).toMatchObject({ status: 'canceled', result: null });
    expect(await read(other.claimed.invocation_id)).toMatchObject({ status: 'ambiguous' });
  });

  test('is on the audit', async () => {
    const id = await lose();
    await rescueInvocations(store, 10);
    const events = await store.db.selectFrom('audit').selectAll().where('subject', '=', id).orderBy('seq').execute();
    expect(events).toMatchObject([
      { event: 'invocation.submit', detail: { calls: { 'cap:test_math:add': { [id]: expect.any(String) } } } },
      { tenant: 'acme', actor: 'coordinator', event: 'invocation.rescue', detail: { lost_attempt: 1, now: 'queued' } },
    ]);
  });
});

test('what a live worker runs, and what waits, is left alone', async () => {
  const { claimed } = await startOne(store);
  await insertInvocations(store, manyInvocations(1));
  expect(await rescueInvocations(store, 10)).toEqual({ box: null, ended: [], count: 0 });
  expect(await read(claimed.invocation_id)).toMatchObject({ status: 'running' });
});

test('two rescues at once share the work, in pieces no larger than asked for', async () => {
  await insertInvocations(store, manyInvocations(50));
  const worker_id = await liveWorker(store);
  await claimNext(store, worker_id, 'exec', 50);
  await endLease(store, worker_id);
  const rescueAll = async () => {
    const ids: string[] = [];
    for (;;) {
      const { box, count } = await rescueInvocations(store, 7);
      expect(count).toBeLessThanOrEqual(7);
      if (count === 0) return ids;
      ids.push(...(box?.deliveries.map((delivery) => delivery.invocation_id) ?? []));
    }
  };
  const rescued = (await Promise.all([rescueAll(), rescueAll()])).flat();
  expect(new Set(rescued).size).toBe(50);
  expect(rescued).toHaveLength(50);
});

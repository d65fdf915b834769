import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { setPaused } from '../queue/pause-queue.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne, startOne } from '../testing/run-one.js';
import { markDraining } from '../worker/worker-lease.js';
import { claimForQueue } from './claim-next.js';
import { ownClaims } from './own-claims.js';
import { readFlow, undelivered } from './undelivered.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const age = (claim_id: string, seconds: number) =>
  sql`UPDATE claims SET created_at = now() - ${seconds} * interval '1 second' WHERE claim_id = ${claim_id}`.execute(
    store.db,
  );
/** Receipts on their way through the queue, one call on each. */
const deliver = (count: number, on_receipt = 1) =>
  claimForQueue(store, 'exec', count, { turn: { last: '' }, on_receipt });

beforeEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, workers, queues`.execute(store.db));

describe('a receipt that no worker has owned', () => {
  test('is delivered again once it is old enough, the oldest first', async () => {
    await insertInvocations(store, [newInvocation({ priority: 3 }), newInvocation({ priority: -5 }), newInvocation()]);
    const [urgent, plain, last] = await deliver(3);
    if (!urgent || !plain || !last) throw new Error('nothing was claimed');
    expect(urgent).toMatchObject({ runner: 'exec', size: 1, priority: -5 });
    await age(plain.claim_id, 10);
    await age(urgent.claim_id, 20);
    const again = [urgent, plain].map((delivery) => ({ ...delivery, ahead: false }));
    expect(await undelivered(store, 5000, 10)).toEqual(again);
    expect(await undelivered(store, 5000, 1)).toEqual(again.slice(0, 1));
    expect(await undelivered(store, 60_000, 10)).toEqual([]);
  });

  test('is not delivered again after a worker owns it', async () => {
    await insertInvocations(store, [newInvocation()]);
    const [delivery] = await deliver(1);
    await age(delivery?.claim_id ?? '', 10);
    expect(await undelivered(store, 5000, 10)).toHaveLength(1);
    await ownClaims(store, await liveWorker(store), [delivery?.claim_id ?? '']);
    expect(await undelivered(store, 5000, 10)).toEqual([]);
  });

  test('is not delivered again while its queue is paused', async () => {
    await insertInvocations(store, [newInvocation()]);
    const [delivery] = await deliver(1);
    await age(delivery?.claim_id ?? '', 10);
    await setPaused(store, operator, 'exec', true);
    expect(await undelivered(store, 5000, 10)).toEqual([]);
    await setPaused(store, operator, 'exec', false);
    expect(await undelivered(store, 5000, 10)).toHaveLength(1);
  });

  test('and that was handed to one worker is left to that worker', async () => {
    const row = newInvocation();
    const worker_id = await liveWorker(store);
    const receipt = { claim_id: 'clm_own', runner: row.runner, worker_id, owned: false, ids: [row.invocation_id] };
    await insertInvocations(store, [row], { hand_over: [receipt] });
    await age('clm_own', 10);
    expect(await undelivered(store, 5000, 10)).toEqual([]);
  });
});

describe('the flow of a queue', () => {
  const flow = async () => (await readFlow(store, ['exec']))[0];

  test('counts the slots of live workers that are not draining', async () => {
    const [, lost, draining] = [await liveWorker(store), await liveWorker(store), await liveWorker(store)];
    await endLease(store, lost);
    await markDraining(store, draining);
    expect(await flow()).toEqual({ runner: 'exec', slots: 10, on_the_way: 0, waiting: false, due_in_ms: null });
  });

  test('counts calls on receipts that nobody owns yet, and says whether more could be delivered', async () => {
    await insertInvocations(store, [...manyInvocations(5), newInvocation({ runner: 'builtin' })]);
    await startOne(store);
    await endOne(store, 'succeeded');
    expect(await flow()).toMatchObject({ on_the_way: 0, waiting: true });
    await deliver(4, 2);
    expect(await flow()).toMatchObject({ on_the_way: 4, waiting: true });
    await deliver(4, 2);
    expect(await flow()).toMatchObject({ on_the_way: 5, waiting: false });
  });

  test('says when the next retry is due, and that it waits once it is', async () => {
    await endOne(store, 'queued');
    await sql`UPDATE work SET available_at = now() + interval '1 hour'`.execute(store.db);
    const later = await flow();
    expect(later).toMatchObject({ waiting: false });
    expect(later?.due_in_ms).toBeGreaterThan(3_000_000);
    await sql`UPDATE work SET available_at = now() - interval '1 second'`.execute(store.db);
    expect(await flow()).toMatchObject({ waiting: true, due_in_ms: null });
  });

  test('is not returned for a paused queue', async () => {
    await setPaused(store, operator, 'exec', true);
    expect(await readFlow(store, ['exec', 'builtin'])).toMatchObject([{ runner: 'builtin' }]);
  });
});

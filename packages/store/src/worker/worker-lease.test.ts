import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { settleInvocations } from '../invocation/settle-invocations.js';
import { onlyOne } from '../only-one.js';
import { boxDeliveries, staleBoxes, unboxDeliveries } from '../outbox/outbox.js';
import { countQueued } from '../queue/count-queued.js';
import { setPaused } from '../queue/pause-queue.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { startOne } from '../testing/run-one.js';
import { forgetWorkers, keepLease, listQueues, listWorkers, markDraining, stopWorker } from './worker-lease.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const statusOf = async (worker_id: string) => (await listWorkers(store.db)).find((one) => one.worker_id === worker_id);

beforeEach(() => sql`TRUNCATE invocations, attempts, workers, queues, outbox`.execute(store.db));

describe('a lease', () => {
  test('is kept by a heartbeat while it lasts', async () => {
    const worker_id = await liveWorker(store);
    expect(await keepLease(store, worker_id, 60_000)).toEqual({ kept: true, cancel: [], paused: [], held: [] });
  });

  test('that has ended is not brought back, nor that of a stopped worker or of nobody', async () => {
    const [lost, stopped] = await Promise.all([liveWorker(store), liveWorker(store)]);
    await endLease(store, lost);
    await stopWorker(store, stopped);
    for (const worker_id of [lost, stopped, 'wrk_none'])
      expect(await keepLease(store, worker_id, 60_000)).toMatchObject({ kept: false });
  });

  test('also tells what its worker has held for longer than it lasts', async () => {
    const { worker_id, claimed } = await startOne(store);
    await startOne(store);
    expect(await keepLease(store, worker_id, 60_000)).toMatchObject({ held: [] });
    await sql`UPDATE invocations SET started_at = now() - interval '61 seconds'`.execute(store.db);
    const { invocation_id, attempt } = claimed;
    expect(await keepLease(store, worker_id, 60_000)).toMatchObject({ held: [{ invocation_id, attempt }] });
    await settleInvocations(store, [newSettlement(claimed)]);
    expect(await keepLease(store, worker_id, 60_000)).toMatchObject({ held: [] });
  });

  test('also tells which queues are paused', async () => {
    const worker_id = await liveWorker(store);
    await setPaused(store, operator, 'exec', true);
    expect(await keepLease(store, worker_id, 60_000)).toMatchObject({ paused: ['exec'] });
    await setPaused(store, operator, 'exec', false);
    expect(await keepLease(store, worker_id, 60_000)).toMatchObject({ paused: [] });
    const events = await sql<{ event: string }>`SELECT event FROM audit WHERE subject = 'exec' ORDER BY seq`.execute(
      store.db,
    );
    expect(events.rows.map((row) => row.event)).toEqual(['queue.pause', 'queue.resume']);
  });
});

test('a worker is listed as alive, draining, lost or stopped, with what it runs', async () => {
  const { worker_id } = await startOne(store);
  expect(await statusOf(worker_id)).toMatchObject({ status: 'alive', running: 1, runners: ['exec'] });
  await markDraining(store, worker_id);
  expect(await statusOf(worker_id)).toMatchObject({ status: 'draining' });
  await endLease(store, worker_id);
  expect(await statusOf(worker_id)).toMatchObject({ status: 'lost' });
  await stopWorker(store, worker_id);
  expect(await statusOf(worker_id)).toMatchObject({ status: 'stopped' });
});

test('workers that ended a day ago are forgotten, unless something of theirs is left to rescue', async () => {
  const [gone, recent] = await Promise.all([liveWorker(store), liveWorker(store)]);
  const { worker_id: indebted } = await startOne(store);
  await sql`UPDATE workers SET lease_until = now() - interval '25 hours' WHERE worker_id IN (${gone}, ${indebted})`.execute(
    store.db,
  );
  await endLease(store, recent);
  await forgetWorkers(store.db);
  const left = (await listWorkers(store.db)).map((one) => one.worker_id);
  expect(left.sort()).toEqual([recent, indebted].sort());
});

test('queues are counted by status and by live workers', async () => {
  const { worker_id } = await startOne(store);
  await insertInvocations(store, [
    ...manyInvocations(2),
    newInvocation({ status: 'held' }),
    newInvocation({ status: 'deferred', delay_ms: 1000 }),
    newInvocation({ status: 'denied' }),
    newInvocation({ runner: 'builtin' }),
  ]);
  const { claimed } = await startOne(store);
  await settleInvocations(store, [newSettlement(claimed, { status: 'queued', backoff_ms: 60_000 })]);
  await setPaused(store, operator, 'builtin', true);
  await endLease(store, worker_id);
  const queues = new Map((await listQueues(store.db)).map((queue) => [queue.runner, queue]));
  expect(queues.get('exec')).toEqual({
    runner: 'exec',
    paused: false,
    queued: 3,
    deferred: 1,
    held: 1,
    running: 1,
    workers: 1,
  });
  expect(queues.get('builtin')).toMatchObject({ paused: true, queued: 1, workers: 0 });
  expect(queues.size).toBe(8);
  expect(await countQueued(store, 'exec')).toEqual({ waiting: 2, delayed: 1, active: 1 });
});

test('boxes are found when they are old enough, oldest first, until they are dropped', async () => {
  const delivery = { invocation_id: 'inv_1', runner: 'exec', attempt: 0, priority: 0 } as const;
  const old = await boxDeliveries(store.db, [delivery]);
  const older = await boxDeliveries(store.db, [delivery, delivery]);
  await boxDeliveries(store.db, [delivery]);
  const back = (id: string, seconds: number) =>
    sql`UPDATE outbox SET created_at = now() - ${seconds} * interval '1 second' WHERE outbox_id = ${id}`.execute(
      store.db,
    );
  await back(old.outbox_id, 10);
  await back(older.outbox_id, 20);
  expect(await staleBoxes(store.db, 5000, 10)).toEqual([older, old]);
  expect(await staleBoxes(store.db, 5000, 1)).toEqual([older]);
  await unboxDeliveries(store.db, [older.outbox_id, 'unknown']);
  expect(await staleBoxes(store.db, 5000, 10)).toEqual([old]);
});

test('of two that do the same duty one works and the other goes away; the next turn is free again', async () => {
  let second: boolean | undefined;
  const first = await onlyOne(store, 'duty', async () => {
    second = await onlyOne(store, 'duty', () => Promise.reject(new Error('twice')));
    expect(await onlyOne(store, 'another duty', () => Promise.resolve())).toBe(true);
  });
  expect([first, second]).toEqual([true, false]);
  await expect(onlyOne(store, 'duty', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await onlyOne(store, 'duty', () => Promise.resolve())).toBe(true);
});

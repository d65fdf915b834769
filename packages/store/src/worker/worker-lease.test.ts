import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { settleClaims } from '../claim/settle-claims.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { onlyOne } from '../only-one.js';
import { countQueued } from '../queue/count-queued.js';
import { setPaused } from '../queue/pause-queue.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { startOne } from '../testing/run-one.js';
import {
  forgetWorkers,
  keepLease,
  listQueues,
  listRunningCalls,
  listWorkers,
  markDraining,
  stopWorker,
} from './worker-lease.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const statusOf = async (worker_id: string) => (await listWorkers(store.db)).find((one) => one.worker_id === worker_id);

/** A call on a receipt of this worker's that it has not begun. */
async function handOver(worker_id: string) {
  const { invocation_id, runner } = newInvocation();
  const receipt = { claim_id: `clm_${invocation_id}`, runner, worker_id, owned: false, ids: [invocation_id] };
  await insertInvocations(store, [newInvocation({ invocation_id })], { hand_over: [receipt] });
  return receipt;
}

beforeEach(() => sql`TRUNCATE invocations, work, claims, results, attempts, workers, queues`.execute(store.db));

describe('a lease', () => {
  test('is renewed by a heartbeat until it ends', async () => {
    const worker_id = await liveWorker(store);
    expect(await keepLease(store, worker_id, 60_000)).toEqual({ kept: true, cancel: [], paused: [], receipts: [] });
  });

  test('that has ended is not renewed, nor that of a stopped or unknown worker', async () => {
    const [lost, stopped] = await Promise.all([liveWorker(store), liveWorker(store)]);
    await endLease(store, lost);
    await stopWorker(store, stopped);
    for (const worker_id of [lost, stopped, 'wrk_none'])
      expect(await keepLease(store, worker_id, 60_000)).toMatchObject({ kept: false });
  });

  test('returns the receipts that its worker has had for more than a second', async () => {
    const { worker_id, claimed } = await startOne(store);
    await startOne(store);
    expect(await keepLease(store, worker_id, 60_000)).toMatchObject({ receipts: [] });
    const handed = await handOver(worker_id);
    await sql`UPDATE claims SET created_at = created_at - interval '2 seconds', owned_at = owned_at - interval '2 seconds'`.execute(
      store.db,
    );
    const { receipts } = await keepLease(store, worker_id, 60_000);
    expect(receipts.toSorted((one, other) => Number(one.owned) - Number(other.owned))).toMatchObject([
      { claim_id: handed.claim_id, owned: false },
      { claim_id: claimed.claim_id, owned: true },
    ]);
    await settleClaims(store, [newSettlement(claimed)], () => true);
    expect(await keepLease(store, worker_id, 60_000)).toMatchObject({
      receipts: [{ claim_id: handed.claim_id, owned: false }],
    });
  });

  test('returns the paused queues', async () => {
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

test('a worker is listed as alive, draining, lost or stopped, with its running calls', async () => {
  const { worker_id } = await startOne(store);
  expect(await statusOf(worker_id)).toMatchObject({ status: 'alive', running: 1, runners: ['exec'] });
  await markDraining(store, worker_id);
  expect(await statusOf(worker_id)).toMatchObject({ status: 'draining' });
  await endLease(store, worker_id);
  expect(await statusOf(worker_id)).toMatchObject({ status: 'lost' });
  await stopWorker(store, worker_id);
  expect(await statusOf(worker_id)).toMatchObject({ status: 'stopped' });
});

test('the running calls of a worker are listed for their tenant alone, and not once they have ended', async () => {
  const { worker_id, claimed } = await startOne(store);
  const { invocation_id, tool_id, tenant } = claimed;
  const of = async (name: string) => (await listRunningCalls(store.db, name)).get(worker_id);
  expect(await of(tenant)).toEqual([{ invocation_id, tool_id, since: expect.stringMatching(/Z$/) }]);
  expect(await of('another')).toBeUndefined();
  await settleClaims(store, [newSettlement(claimed)], () => true);
  expect(await of(tenant)).toBeUndefined();
});

test('workers that ended a day ago are deleted, unless they have calls to rescue', async () => {
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
  await settleClaims(store, [newSettlement(claimed, { status: 'queued', backoff_ms: 60_000 })]);
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

test('a duty runs in one of two processes while the other skips it, and is free again afterwards', async () => {
  let second: boolean | undefined;
  const first = await onlyOne(store, 'duty', async () => {
    second = await onlyOne(store, 'duty', () => Promise.reject(new Error('twice')));
    expect(await onlyOne(store, 'another duty', () => Promise.resolve())).toBe(true);
  });
  expect([first, second]).toEqual([true, false]);
  await expect(onlyOne(store, 'duty', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await onlyOne(store, 'duty', () => Promise.resolve())).toBe(true);
});

import type { Backbone } from '@capstan/backbone';
import { type Claimed, settleClaims } from '@capstan/store/claim';
import { describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { afterAWhile } from './after-a-while.js';
import { commitWork, insertWaiting, manyOf, submitWork } from './insert-work.js';
import { onEachQueue } from './on-each-queue.js';
import { query } from './query.js';
import { startClaimant } from './start-claimant.js';
import { startTestCoordinator } from './start-test-coordinator.js';

/** Gives a call back for a later retry, as a worker does. Returns the time of the retry. */
async function retryLater({ store, dispatcher }: Backbone, call: Claimed, backoff_ms: number): Promise<Date> {
  const end = { status: 'queued', outcome: 'failed', error: null, result: null } as const;
  expect(await settleClaims(store, [{ ...call, ...end, backoff_ms }])).toMatchObject([{ status: 'queued' }]);
  const [{ available_at }] = await query(store.url, 'SELECT available_at FROM work WHERE invocation_id = $1', [
    call.invocation_id,
  ]);
  dispatcher.wakeAfter(call.runner, backoff_ms);
  return available_at;
}

onEachQueue((open, servers) => {
  describe.each(['exec', 'builtin'] as const)('of %s', (runner) => {
    test('delivers committed calls to a worker', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 4 });
      const ids = await submitWork(backbone, manyOf(2, { runner }));
      await claimant.untilTaken(2);
      expect(claimant.taken.toSorted()).toEqual(ids.sort());
    });

    test('delivers calls that were committed before there was a worker', async () => {
      const ids = await submitWork(await open(), [{ runner }]);
      const claimant = await startClaimant(await open(), { runner, concurrency: 1 });
      await claimant.untilTaken(1);
      expect(claimant.taken).toEqual(ids);
    });

    test('delivers a thousand calls that are committed at once, each once', async () => {
      const backbone = await open();
      startTestCoordinator(backbone);
      const claimant = await startClaimant(backbone, { runner, concurrency: 50 });
      const ids = await submitWork(backbone, manyOf(1000, { runner }));
      await claimant.untilTaken(1000);
      await afterAWhile(backbone);
      expect(claimant.taken.toSorted()).toEqual(ids.sort());
      expect(claimant.most).toBeLessThanOrEqual(50);
    });

    test('delivers lower priority numbers first, and equal ones in order', async () => {
      const backbone = await open();
      const priorities = [5, 0, -3, 5, 0, 1_000_000, -1_000_000, 0];
      const work = priorities.map((priority) => ({ runner, priority }));
      const ids = [...(await submitWork(backbone, work.slice(0, 6))), ...(await submitWork(backbone, work.slice(6)))];
      await backbone.dispatcher.idle();
      const claimant = await startClaimant(backbone, { runner, concurrency: 1 });
      await claimant.untilTaken(priorities.length);
      expect(claimant.taken).toEqual([6, 2, 1, 4, 7, 0, 3, 5].map((at) => ids[at]));
    });

    test('delivers urgent calls that are committed together in the order of their priorities', async () => {
      const backbone = await open();
      const ids = await submitWork(
        backbone,
        [-1, -9, -5, -9].map((priority) => ({ runner, priority })),
      );
      await backbone.dispatcher.idle();
      const claimant = await startClaimant(backbone, { runner, concurrency: 1 });
      await claimant.untilTaken(4);
      expect(claimant.taken).toEqual([1, 3, 2, 0].map((at) => ids[at]));
    });

    test('delivers calls that waited in Postgres by priority, and equal ones in order', async () => {
      const backbone = await open();
      const priorities = [5, 0, -3, 5, 0, -1_000_000, 0];
      const ids = await insertWaiting(
        backbone,
        priorities.map((priority) => ({ runner, priority })),
      );
      const claimant = await startClaimant(backbone, { runner, concurrency: 1 });
      startTestCoordinator(backbone);
      await claimant.untilTaken(priorities.length);
      expect(claimant.taken).toEqual([5, 2, 1, 4, 6, 0, 3].map((at) => ids[at]));
    });

    test('delivers an urgent call before all waiting ones', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 1, runs: true });
      for (let count = 0; count < 3; count += 1) await submitWork(backbone, [{ runner }]);
      await claimant.untilTaken(1);
      const [urgent] = await submitWork(backbone, [{ runner, priority: -1 }]);
      await backbone.dispatcher.idle();
      claimant.finish();
      await claimant.untilTaken(4);
      expect(claimant.taken[1]).toBe(urgent);
    });

    test('does not deliver a retry before its time', async () => {
      const backbone = await open();
      startTestCoordinator(backbone);
      const claimant = await startClaimant(backbone, { runner, concurrency: 4 });
      await submitWork(backbone, [{ runner }]);
      await claimant.untilTaken(1);
      const [first] = claimant.begun;
      if (!first) throw new Error('nothing was begun');
      const available_at = await retryLater(backbone, first, 400);
      await claimant.untilTaken(2);
      expect(claimant.begun[1]).toMatchObject({ invocation_id: first.invocation_id, attempt: 2 });
      const [{ owned_at }] = await query(servers.database_url, 'SELECT owned_at FROM claims WHERE claim_id = $1', [
        claimant.begun[1]?.claim_id,
      ]);
      expect(owned_at.getTime()).toBeGreaterThanOrEqual(available_at.getTime());
    });

    test('starts a call once that is delivered several times', async () => {
      const backbone = await open();
      const { ids, deliveries, tell } = await commitWork(backbone, [{ runner }]);
      tell();
      await backbone.queue.deliver([...deliveries, ...deliveries]);
      await backbone.queue.deliver(deliveries);
      const claimant = await startClaimant(backbone, { runner, concurrency: 1 });
      const other = await startClaimant(backbone, { runner, concurrency: 1 });
      await eventually(() => claimant.taken.length + other.taken.length === 1);
      await backbone.queue.deliver(deliveries);
      await afterAWhile(backbone);
      expect([...claimant.taken, ...other.taken]).toEqual(ids);
    });

    test('delivers a call of one tenant past the backlog of another', async () => {
      const backbone = await open();
      const backlog = runner === 'exec' ? 300 : 5000;
      await insertWaiting(backbone, manyOf(backlog, { runner, tenant: 'flood' }));
      const claimant = await startClaimant(backbone, { runner, concurrency: 2, runs: true });
      startTestCoordinator(backbone);
      await claimant.untilTaken(2);
      const [patient] = await submitWork(backbone, [{ runner, tenant: 'patient' }]);
      claimant.finish();
      await eventually(() => claimant.taken.includes(patient ?? ''));
      // On Redis, calls that were already in the queue go first.
      const before = claimant.taken.indexOf(patient ?? '');
      expect(before).toBeLessThan(runner === 'exec' ? 20 : 2500);
    });
  });

  test('keeps runner types apart', async () => {
    const backbone = await open();
    const runners = ['exec', 'builtin', 'browser'] as const;
    const claimants = await Promise.all(runners.map((runner) => startClaimant(backbone, { runner, concurrency: 2 })));
    const pieces = Array.from({ length: 30 }, (_, index) => ({ runner: runners[index % 3] ?? 'exec' }));
    const ids = await submitWork(backbone, pieces);
    await Promise.all(claimants.map((claimant) => claimant.untilTaken(10)));
    for (const [at] of runners.entries())
      expect(claimants[at]?.taken.toSorted()).toEqual(ids.filter((_, index) => index % 3 === at).sort());
  });

  test('counts the calls that wait for a worker and those that a worker has', async () => {
    const backbone = await open();
    const { queue } = backbone;
    expect(await queue.counts('exec')).toEqual({ waiting: 0, delayed: 0, active: 0 });
    await submitWork(backbone, manyOf(3));
    await eventually(async () => expect(await queue.counts('exec')).toEqual({ waiting: 3, delayed: 0, active: 0 }));
    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 2, runs: true });
    await claimant.untilTaken(2);
    await eventually(async () => expect(await queue.counts('exec')).toEqual({ waiting: 1, delayed: 0, active: 2 }));
    expect(claimant.hasRoom()).toBe(false);
    expect(await queue.counts('builtin')).toEqual({ waiting: 0, delayed: 0, active: 0 });
  });

  test('accepts an empty delivery', async () => {
    const { queue } = await open();
    await queue.deliver([]);
    await queue.ping();
  });

  test('reports no loss once it is confirmed', async () => {
    const { queue } = await open();
    await queue.confirm();
    expect(await queue.mayHaveLost()).toBe(false);
    expect(await (await open()).queue.mayHaveLost()).toBe(false);
  });
});

import type { Backbone } from '@capstan/backbone';
import type { Delivery } from '@capstan/contracts';
import { listAttempts, settleInvocations } from '@capstan/store';
import { describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { afterAWhile } from './after-a-while.js';
import { idsOf } from './ids-of.js';
import { insertWork } from './insert-work.js';
import { onEachQueue } from './on-each-queue.js';
import { query } from './query.js';
import { startClaimant } from './start-claimant.js';

/** Gives an attempt back as a worker does, to be delivered again after a while. */
async function retryLater({ store, queue }: Backbone, delivery: Delivery, attempt: number, backoff_ms: number) {
  const { invocation_id } = delivery;
  const end = { status: 'queued', outcome: 'failed', error: null, result: null } as const;
  expect(await settleInvocations(store, [{ invocation_id, attempt, backoff_ms, ...end }])).toMatchObject([
    { status: 'queued' },
  ]);
  const [{ available_at }] = await query(store.url, `SELECT available_at FROM invocations WHERE invocation_id = $1`, [
    invocation_id,
  ]);
  await queue.enqueue([{ ...delivery, attempt, delay_ms: backoff_ms }]);
  return available_at;
}

onEachQueue((open) => {
  describe.each(['exec', 'builtin'] as const)('of %s', (runner) => {
    test('delivers what is enqueued', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 4 });
      const deliveries = await insertWork(backbone.store, [{ runner }, { runner }]);
      await backbone.queue.enqueue(deliveries);
      await claimant.untilTaken(2);
      expect(claimant.taken.toSorted()).toEqual(idsOf(deliveries).sort());
    });

    test('delivers what was enqueued before anybody consumed', async () => {
      const backbone = await open();
      const deliveries = await insertWork(backbone.store, [{ runner }]);
      await backbone.queue.enqueue(deliveries);
      const claimant = await startClaimant(await open(), { runner, concurrency: 1 });
      await claimant.untilTaken(1);
      expect(claimant.taken).toEqual(idsOf(deliveries));
    });

    test('delivers a thousand at once, each once', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 50 });
      const deliveries = await insertWork(
        backbone.store,
        Array.from({ length: 1000 }, () => ({ runner })),
      );
      await backbone.queue.enqueue(deliveries);
      await claimant.untilTaken(1000);
      expect(claimant.taken.toSorted()).toEqual(idsOf(deliveries).sort());
      expect(claimant.most).toBeLessThanOrEqual(50);
    });

    test('gives a lower number first, and equal ones in order', async () => {
      const backbone = await open();
      const priorities = [5, 0, -3, 5, 0, 1_000_000, -1_000_000, 0];
      const deliveries = await insertWork(
        backbone.store,
        priorities.map((priority) => ({ runner, priority })),
      );
      await backbone.queue.enqueue(deliveries.slice(0, 6));
      await backbone.queue.enqueue(deliveries.slice(6));
      const claimant = await startClaimant(backbone, { runner, concurrency: 1 });
      await claimant.untilTaken(priorities.length);
      const order = [6, 2, 1, 4, 7, 0, 3, 5].map((at) => deliveries[at]?.invocation_id);
      expect(claimant.taken).toEqual(order);
    });

    test('lets something urgent go before all that waits', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 1, runs: true });
      const waiting = await insertWork(backbone.store, [{ runner }, { runner }, { runner }]);
      for (const delivery of waiting) await backbone.queue.enqueue([delivery]);
      await claimant.untilTaken(1);
      const [urgent] = await insertWork(backbone.store, [{ runner, priority: -1 }]);
      if (urgent) await backbone.queue.enqueue([urgent]);
      claimant.finish();
      await claimant.untilTaken(4);
      expect(claimant.taken[1]).toBe(urgent?.invocation_id);
    });

    test('does not deliver a delayed one before its time', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 4 });
      const [delivery] = await insertWork(backbone.store, [{ runner }]);
      if (!delivery) throw new Error('nothing was inserted');
      await backbone.queue.enqueue([delivery]);
      await claimant.untilTaken(1);
      const available_at = await retryLater(backbone, delivery, 1, 400);
      await claimant.untilTaken(2);
      const [, second] = await listAttempts(backbone.store.db, delivery.invocation_id);
      const early_ms = available_at.getTime() - Date.parse(second?.started_at ?? '');
      expect(early_ms).toBeLessThanOrEqual(0);
      expect(early_ms).toBeGreaterThan(-1500);
    });

    test('runs once what is enqueued several times', async () => {
      const backbone = await open();
      const [twice, last] = await insertWork(backbone.store, [{ runner }, { runner, priority: 1 }]);
      if (!twice || !last) throw new Error('nothing was inserted');
      await backbone.queue.enqueue([twice, twice]);
      await backbone.queue.enqueue([twice]);
      await backbone.queue.enqueue([last]);
      const claimant = await startClaimant(backbone, { runner, concurrency: 1 });
      await claimant.untilTaken(2);
      await backbone.queue.enqueue([twice]);
      await afterAWhile(backbone);
      expect(claimant.taken).toEqual(idsOf([twice, last]));
      expect(await listAttempts(backbone.store.db, twice.invocation_id)).toHaveLength(1);
    });
  });

  test('keeps runner types apart', async () => {
    const backbone = await open();
    const runners = ['exec', 'builtin', 'browser'] as const;
    const claimants = await Promise.all(runners.map((runner) => startClaimant(backbone, { runner, concurrency: 2 })));
    const pieces = Array.from({ length: 30 }, (_, index) => ({ runner: runners[index % 3] ?? 'exec' }));
    const deliveries = await insertWork(backbone.store, pieces);
    await backbone.queue.enqueue(deliveries);
    await Promise.all(claimants.map((claimant) => claimant.untilTaken(10)));
    for (const [at, runner] of runners.entries())
      expect(claimants[at]?.taken.toSorted()).toEqual(idsOf(deliveries.filter((one) => one.runner === runner)).sort());
  });

  test('counts what waits, what is delayed and what is active', async () => {
    const backbone = await open();
    const { queue, store } = backbone;
    expect(await queue.counts('exec')).toEqual({ waiting: 0, delayed: 0, active: 0 });
    const [retry] = await insertWork(store, [{}]);
    if (!retry) throw new Error('nothing was inserted');
    await queue.enqueue([retry]);
    const first = await startClaimant(backbone, { runner: 'exec', concurrency: 1 });
    await first.untilTaken(1);
    if (queue.kind === 'redis')
      await eventually(async () => expect(await queue.counts('exec')).toMatchObject({ active: 0 }));
    await first.stop();
    await retryLater(backbone, retry, 1, 600_000);
    await queue.enqueue(await insertWork(store, [{}, {}, {}]));
    await eventually(async () => expect(await queue.counts('exec')).toEqual({ waiting: 3, delayed: 1, active: 0 }));

    const second = await startClaimant(backbone, { runner: 'exec', concurrency: 2, runs: true });
    await second.untilTaken(2);
    await eventually(async () => expect(await queue.counts('exec')).toEqual({ waiting: 1, delayed: 1, active: 2 }));
    expect(second.hasRoom()).toBe(false);
    expect(await queue.counts('builtin')).toEqual({ waiting: 0, delayed: 0, active: 0 });
  });

  test('when drained forgets the deliveries of that runner type, never the work', async () => {
    const backbone = await open();
    const { queue, store } = backbone;
    const drained = await insertWork(store, [{}, {}]);
    const kept = await insertWork(store, [{ runner: 'builtin' }]);
    await queue.enqueue([...drained, ...kept]);
    await queue.drain('exec');
    // A committed row is a delivery to the Postgres queue: there is nothing apart from it to forget.
    const remain = queue.needs_outbox ? 0 : 2;
    expect(await queue.counts('exec')).toMatchObject({ waiting: remain, delayed: 0 });
    expect(await queue.counts('builtin')).toMatchObject({ waiting: 1 });

    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 1 });
    await queue.enqueue(drained);
    await claimant.untilTaken(2);
    expect(claimant.taken).toEqual(idsOf(drained));
  });

  test('takes nothing to be enqueued as well', async () => {
    const { queue } = await open();
    await queue.enqueue([]);
    await queue.ping();
  });

  test('has lost nothing once it was confirmed', async () => {
    const { queue } = await open();
    await queue.confirm();
    expect(await queue.mayHaveLost()).toBe(false);
    expect(await (await open()).queue.mayHaveLost()).toBe(false);
  });
});

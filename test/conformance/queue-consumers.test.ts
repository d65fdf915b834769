import type { Principal } from '@capstan/contracts';
import { setPaused } from '@capstan/store';
import { describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { afterAWhile } from './after-a-while.js';
import { idsOf } from './ids-of.js';
import { insertWork } from './insert-work.js';
import { newGate } from './new-gate.js';
import { onEachQueue } from './on-each-queue.js';
import { query } from './query.js';
import { startClaimant } from './start-claimant.js';

onEachQueue((open, servers) => {
  describe.each(['exec', 'builtin'] as const)('of %s', (runner) => {
    test('never gives more than the concurrency', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 10, runs: true });
      for (let batch = 0; batch < 10; batch += 1)
        await backbone.queue.enqueue(
          await insertWork(
            backbone.store,
            Array.from({ length: 10 }, () => ({ runner })),
          ),
        );
      // What a runner type may use of it is its own matter: envelopes are taken by a few at a time.
      await claimant.untilTaken(8);
      await afterAWhile(backbone);
      expect(claimant.running).toBeLessThanOrEqual(10);
      expect(claimant.hasRoom()).toBe(claimant.running < 8);
      claimant.finish();
      await claimant.untilTaken(100);
      expect(claimant.most).toBeLessThanOrEqual(10);
    });

    test('gives nothing to a paused consumer, which goes on when it is resumed', async () => {
      const [backbone, other] = [await open(), await open()];
      const paused = await startClaimant(backbone, { runner, concurrency: 2 });
      await backbone.queue.enqueue(await insertWork(backbone.store, [{ runner }]));
      await paused.untilTaken(1);
      await eventually(() => expect(paused.hasRoom()).toBe(true));
      await afterAWhile(backbone);

      paused.pause();
      expect(paused.hasRoom()).toBe(false);
      // A claim that was under way may still take what comes.
      await eventually(() => expect(paused.claiming).toBe(0));
      const busy = await startClaimant(other, { runner, concurrency: 2 });
      for (let round = 0; round < 20; round += 1)
        await other.queue.enqueue(await insertWork(other.store, [{ runner }]));
      await eventually(() => paused.taken.length + busy.taken.length === 21);
      expect(paused.taken).toHaveLength(1);

      await busy.stop();
      paused.resume();
      const deliveries = await insertWork(backbone.store, [{ runner }]);
      await backbone.queue.enqueue(deliveries);
      await paused.untilTaken(2);
      expect(paused.taken.slice(1)).toEqual(idsOf(deliveries));
    });

    test('gives what came before a consumer heard of a pause as soon as it is resumed', async () => {
      const backbone = await open();
      const operator: Principal = { tenant: 'default', actor: 'ann', roles: ['operate'], key_id: 'key_1' };
      const setPause = (paused: boolean) => setPaused(backbone.store, operator, runner, paused);
      const claimant = await startClaimant(backbone, { runner, concurrency: 2 });
      await eventually(() => expect(claimant.claiming).toBe(0));
      await setPause(true);
      const { asked } = claimant;
      const deliveries = await insertWork(backbone.store, [{ runner }, { runner }, { runner }]);
      await backbone.queue.enqueue(deliveries);
      await eventually(() => claimant.asked > asked && claimant.claiming === 0);
      claimant.pause();
      await setPause(false);
      claimant.resume();
      await claimant.untilTaken(3);
      expect([...claimant.taken].sort()).toEqual(idsOf(deliveries).sort());
    });

    test('gives no more of what was enqueued together to a consumer that was paused meanwhile', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 1, runs: true });
      const deliveries = await insertWork(
        backbone.store,
        Array.from({ length: 5 }, () => ({ runner })),
      );
      await backbone.queue.enqueue(deliveries);
      await claimant.untilTaken(1);
      claimant.pause();
      const { asked } = claimant;
      claimant.finish();
      await afterAWhile(backbone);
      expect(claimant.asked).toBe(asked);
      claimant.resume();
      await claimant.untilTaken(5);
      expect(claimant.taken).toEqual(idsOf(deliveries));
    });

    test('gives nothing to a consumer that was stopped; what it took goes on', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 1, runs: true });
      await backbone.queue.enqueue(
        await insertWork(
          backbone.store,
          Array.from({ length: 5 }, () => ({ runner })),
        ),
      );
      await claimant.untilTaken(1);
      await claimant.stop();
      expect([claimant.running, claimant.hasRoom()]).toEqual([1, false]);
      const { asked } = claimant;
      claimant.finish();
      await afterAWhile(backbone);
      expect(claimant.asked).toBe(asked);
    });

    test('has stopped a consumer when no claim is under way', async () => {
      const backbone = await open();
      const [claiming, gate] = [newGate(), newGate()];
      const beforeClaim = () => {
        claiming.open();
        return gate.opened;
      };
      const deliveries = await insertWork(backbone.store, [{ runner }]);
      await backbone.queue.enqueue(deliveries);
      const claimant = await startClaimant(backbone, { runner, concurrency: 1, beforeClaim });
      await claiming.opened;
      let taken_when_stopped = -1;
      const stopped = claimant.stop().then(() => {
        taken_when_stopped = claimant.taken.length;
      });
      await afterAWhile(backbone);
      gate.open();
      await stopped;
      await claimant.untilTaken(1);
      expect(taken_when_stopped).toBe(1);
    });

    test('stops a consumer that is idle or paused', async () => {
      const backbone = await open();
      const idle = await startClaimant(backbone, { runner, concurrency: 4 });
      const paused = await startClaimant(backbone, { runner, concurrency: 4 });
      await afterAWhile(backbone);
      paused.pause();
      await Promise.all([idle.stop(), paused.stop()]);
      expect([idle.hasRoom(), paused.hasRoom()]).toEqual([false, false]);
    });
  });

  test('shares the work between consumers, and no invocation is claimed twice', async () => {
    const [one, other] = [await open(), await open()];
    const claimants = [
      await startClaimant(one, { runner: 'exec', concurrency: 5, runs: true }),
      await startClaimant(other, { runner: 'exec', concurrency: 5, runs: true }),
    ];
    const deliveries = await insertWork(
      one.store,
      Array.from({ length: 200 }, () => ({})),
    );
    await one.queue.enqueue(deliveries);
    await Promise.all(claimants.map((claimant) => claimant.untilTaken(5)));
    for (const claimant of claimants) claimant.finish();
    await eventually(() => claimants.flatMap((claimant) => claimant.taken).length === 200, { timeout_ms: 20_000 });
    expect(claimants.flatMap((claimant) => claimant.taken).sort()).toEqual(idsOf(deliveries).sort());
    const [{ attempts }] = await query(servers.database_url, 'SELECT sum(attempt)::int AS attempts FROM invocations');
    expect(attempts).toBe(200);
  });
});

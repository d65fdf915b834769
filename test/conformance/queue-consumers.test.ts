import type { Principal } from '@capstan/contracts';
import { setPaused } from '@capstan/store/queue';
import { describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { afterAWhile } from './after-a-while.js';
import { commitWork, manyOf, submitWork } from './insert-work.js';
import { newGate } from './new-gate.js';
import { onEachQueue } from './on-each-queue.js';
import { query } from './query.js';
import { startClaimant } from './start-claimant.js';
import { startTestCoordinator } from './start-test-coordinator.js';

const operator: Principal = { tenant: 'default', actor: 'ann', roles: ['operate'], key_id: 'key_1' };

onEachQueue((open, servers) => {
  describe.each(['exec', 'builtin'] as const)('of %s', (runner) => {
    test('never starts more calls at once than the concurrency', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 10, runs: true });
      for (let batch = 0; batch < 10; batch += 1) await submitWork(backbone, manyOf(10, { runner }));
      await claimant.untilTaken(10);
      await afterAWhile(backbone);
      expect(claimant.running).toBe(10);
      await eventually(() => expect(claimant.hasRoom()).toBe(false));
      claimant.finish();
      await claimant.untilTaken(100);
      expect(claimant.most).toBe(10);
    });

    test('gives nothing to a paused consumer, which goes on when it is resumed', async () => {
      const [backbone, other] = [await open(), await open()];
      const paused = await startClaimant(backbone, { runner, concurrency: 2 });
      await submitWork(backbone, [{ runner }]);
      await paused.untilTaken(1);
      await eventually(() => expect(paused.hasRoom()).toBe(true));
      await afterAWhile(backbone);

      paused.pause();
      expect(paused.hasRoom()).toBe(false);
      // A request for calls that is still open may return a call.
      await eventually(() => expect(paused.asking).toBe(0));
      const busy = await startClaimant(other, { runner, concurrency: 2 });
      for (let round = 0; round < 20; round += 1) await submitWork(other, [{ runner }]);
      await eventually(() => paused.taken.length + busy.taken.length === 21);
      expect(paused.taken).toHaveLength(1);

      await busy.stop();
      paused.resume();
      const ids = await submitWork(backbone, [{ runner }]);
      await paused.untilTaken(2);
      expect(paused.taken.slice(1)).toEqual(ids);
    });

    test('keeps calls that are committed before a pause and delivered after it until it is resumed', async () => {
      const backbone = await open();
      const setPause = (paused: boolean) => setPaused(backbone.store, operator, runner, paused);
      let beforeClaim = () => Promise.resolve();
      const claimant = await startClaimant(backbone, { runner, concurrency: 2, beforeClaim: () => beforeClaim() });
      await eventually(() => expect(claimant.asking).toBe(0));
      const { asked } = claimant;
      const gate = newGate();
      beforeClaim = () => gate.opened;
      const committed = [];
      for (let count = 0; count < 3; count += 1) committed.push(await commitWork(backbone, [{ runner }]));
      const receipts = committed.flatMap(({ deliveries }) => deliveries);
      expect(receipts).toHaveLength(backbone.queue.kind === 'redis' ? 3 : 0);
      await setPause(true);
      for (const { tell } of committed) tell();
      gate.open();
      // The consumer does not know of the pause yet: it asks for calls and gets none.
      await eventually(() => claimant.asked > asked && claimant.asking === 0);
      await afterAWhile(backbone);
      expect(claimant.taken).toEqual([]);
      claimant.pause();
      await setPause(false);
      claimant.resume();
      startTestCoordinator(backbone);
      await claimant.untilTaken(3);
      expect(claimant.taken.toSorted()).toEqual(committed.flatMap(({ ids }) => ids).sort());
    });

    test('keeps calls that are committed while it is paused until it is resumed', async () => {
      const backbone = await open();
      startTestCoordinator(backbone);
      const claimant = await startClaimant(backbone, { runner, concurrency: 2 });
      await setPaused(backbone.store, operator, runner, true);
      claimant.pause();
      const ids = await submitWork(backbone, manyOf(3, { runner }));
      await afterAWhile(backbone);
      expect(claimant.taken).toEqual([]);
      await setPaused(backbone.store, operator, runner, false);
      claimant.resume();
      backbone.dispatcher.wake([runner]);
      await claimant.untilTaken(3);
      expect(claimant.taken.toSorted()).toEqual(ids.sort());
    });

    test('gives no more calls to a consumer that was paused while a call ran', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 1, runs: true });
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) ids.push(...(await submitWork(backbone, [{ runner }])));
      await claimant.untilTaken(1);
      claimant.pause();
      const { asked } = claimant;
      claimant.finish();
      await afterAWhile(backbone);
      expect(claimant.asked).toBe(asked);
      claimant.resume();
      await claimant.untilTaken(5);
      expect(claimant.taken.toSorted()).toEqual(ids.sort());
    });

    test('gives nothing to a stopped consumer, whose running calls go on', async () => {
      const backbone = await open();
      const claimant = await startClaimant(backbone, { runner, concurrency: 1, runs: true });
      for (let count = 0; count < 5; count += 1) await submitWork(backbone, [{ runner }]);
      await claimant.untilTaken(1);
      await claimant.stop();
      expect([claimant.running, claimant.hasRoom()]).toEqual([1, false]);
      const { asked } = claimant;
      claimant.finish();
      await afterAWhile(backbone);
      expect([claimant.asked, claimant.taken.length]).toEqual([asked, 1]);
    });

    test('gives calls that a stopped consumer did not take to another one', async () => {
      const backbone = await open();
      const stopped = await startClaimant(backbone, { runner, concurrency: 1, runs: true });
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) ids.push(...(await submitWork(backbone, [{ runner }])));
      await stopped.untilTaken(1);
      await stopped.stop();
      const other = await startClaimant(await open(), { runner, concurrency: 1 });
      await other.untilTaken(4);
      expect([...stopped.taken, ...other.taken].sort()).toEqual(ids.sort());
    });

    test('stops a consumer only after its last request for calls is answered', async () => {
      const backbone = await open();
      const [asking, gate] = [newGate(), newGate()];
      const beforeClaim = () => {
        asking.open();
        return gate.opened;
      };
      await submitWork(backbone, [{ runner }]);
      const claimant = await startClaimant(backbone, { runner, concurrency: 1, beforeClaim });
      await asking.opened;
      let taken_when_stopped = -1;
      const stopped = claimant.stop().then(() => {
        taken_when_stopped = claimant.taken.length;
      });
      await afterAWhile(backbone);
      expect(taken_when_stopped).toBe(-1);
      gate.open();
      await stopped;
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

  test('shares the work between consumers, and no call is started twice', async () => {
    const [one, other] = [await open(), await open()];
    const claimants = [
      await startClaimant(one, { runner: 'exec', concurrency: 5, runs: true }),
      await startClaimant(other, { runner: 'exec', concurrency: 5, runs: true }),
    ];
    const ids = await submitWork(one, manyOf(200));
    await Promise.all(claimants.map((claimant) => claimant.untilTaken(5)));
    for (const claimant of claimants) claimant.finish();
    await eventually(() => claimants.flatMap((claimant) => claimant.taken).length === 200);
    await afterAWhile(one);
    expect(claimants.flatMap((claimant) => claimant.taken).sort()).toEqual(ids.sort());
    const [{ attempts }] = await query(
      servers.database_url,
      'SELECT sum(attempt)::int AS attempts FROM claims, unnest(attempts) AS attempt WHERE owned_at IS NOT NULL',
    );
    expect(attempts).toBe(200);
  });
});

import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue } from './hardest-queue.js';
import { redisFor } from './redis-for.js';
import { type Cluster, LONG_LEASE, startCluster } from './start-cluster.js';

const ADD = 'cap:test_math:add';
const LAYERS = 12;
const WIDTH = 10;
const FANNED = 200;

/** Layers of steps, each of which needs two of the layer before, and in the end a fan-out. */
const PLAN = {
  max_parallel: 25,
  steps: [
    ...Array.from({ length: LAYERS * WIDTH }, (_, place) => {
      const [layer, at] = [Math.floor(place / WIDTH), place % WIDTH];
      const id = `s${layer}_${at}`;
      if (layer === 0) return { id, needs: [], tool: ADD, args: { a: at, b: 1 } };
      const [left, right] = [`s${layer - 1}_${at}`, `s${layer - 1}_${(at + 1) % WIDTH}`];
      return { id, needs: [left, right], tool: ADD, args: { a: `\${{ steps.${left}.output.result }}`, b: 1 } };
    }),
    { id: 'each', for_each: Array.from({ length: FANNED }, (_, n) => n), tool: ADD, args: { a: '${{ item }}', b: 1 } },
  ],
};
const TOTAL = LAYERS * WIDTH + FANNED;

describe.each(hardestQueue)(
  'a plan whose coordinators are killed, on the $name queue,',
  { timeout: 90_000 },
  (queue) => {
    let cluster: Cluster;
    beforeAll(async () => {
      cluster = await startCluster({ redis: await redisFor(queue), env: LONG_LEASE });
    });

    test('is gone on with by the next one, and no step is called twice', async () => {
      const { client, ask } = cluster;
      const { run_id } = await client.runs.submit({ plan: PLAN });
      let coordinator = cluster.coordinator;
      for (const share of [0.2, 0.6]) {
        await eventually(async () => (await client.runs.get(run_id)).completed_steps >= share * TOTAL, {
          timeout_ms: 20_000,
        });
        const spare = cluster.startCoordinator();
        coordinator.kill('SIGKILL');
        coordinator = await spare;
      }
      const done = await client.runs.wait(run_id, { timeout_s: 30 });
      expect(done).toMatchObject({ status: 'completed', total_steps: TOTAL, completed_steps: TOTAL });
      expect(
        await ask(`SELECT status, attempt, count(*)::int FROM invocations WHERE run_id = '${run_id}' GROUP BY 1, 2`),
      ).toEqual([{ status: 'succeeded', attempt: 1, count: TOTAL }]);
      expect(await ask(`SELECT live, unended, active FROM plan_runs WHERE run_id = '${run_id}'`)).toEqual([
        { live: 0, unended: 0, active: false },
      ]);
    });

    test('of two coordinators at once has each step called once', async () => {
      const { client, ask } = cluster;
      const second = await cluster.startCoordinator();
      const runs = await Promise.all([0, 1, 2].map(() => client.runs.submit({ plan: PLAN })));
      for (const { run_id } of runs)
        expect(await client.runs.wait(run_id, { timeout_s: 40 })).toMatchObject({
          status: 'completed',
          completed_steps: TOTAL,
        });
      second.kill('SIGTERM');
      expect(
        await ask(
          `SELECT attempt, count(*)::int FROM invocations WHERE run_id = ANY ('{${runs.map((run) => run.run_id).join(',')}}') GROUP BY 1`,
        ),
      ).toEqual([{ attempt: 1, count: 3 * TOTAL }]);
    });

    test('of a schedule is started once for each time, by however many coordinators', async () => {
      const { client } = cluster;
      await Promise.all([cluster.startCoordinator(), cluster.startCoordinator()]);
      const { schedule_id } = await client.schedules.create({ every_ms: 1000, tool_id: ADD, inputs: { a: 1, b: 1 } });
      await eventually(async () => (await client.schedules.get(schedule_id)).last.length >= 3, { timeout_ms: 20_000 });
      await client.schedules.remove(schedule_id);
      const starts = await cluster.ask(
        `SELECT idempotency_key FROM invocations WHERE labels ->> 'schedule' = '${schedule_id}' ORDER BY 1`,
      );
      expect(starts.length).toBeGreaterThanOrEqual(3);
      const seconds = starts.map((row) => String(row.idempotency_key).slice(-24));
      expect(new Set(seconds).size).toBe(seconds.length);
    });
  },
);

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { queues } from '../fixtures/queues.js';
import { checkInvariants } from './check-invariants.js';
import { findBusyWorker } from './find-busy-worker.js';
import { redisFor } from './redis-for.js';
import { type Cluster, startCluster } from './start-cluster.js';
import { submitSums } from './submit-sums.js';
import { untilAllEnded } from './until-all-ended.js';

const TOTAL = Number(process.env.CAPSTAN_CHAOS ?? 1_200);
const WAVE = { bulk: 300, lone: 100 };
const WAVES = Math.ceil(TOTAL / (WAVE.bulk + WAVE.lone));

describe.each(queues)('on the $name queue', { timeout: 60_000 }, (queue) => {
  test(
    `${TOTAL} invocations end once each while workers are killed and the queue is wiped`,
    async () => {
      const redis = await redisFor(queue);
      const cluster = await startCluster({ redis, workers: 3, concurrency: 8 });
      const accepted: string[] = [];
      const submit = async () => accepted.push(...(await submitSums(cluster.client, WAVE)).accepted);

      for (let wave = 0; wave < WAVES; wave++) {
        const wiped = redis !== undefined && wave === Math.floor(WAVES / 2);
        if (wiped) await redis.kill();
        await Promise.all([submit(), killOneAtWork(cluster), wiped && redis.restart()]);
      }

      await untilAllEnded(cluster.ask, { timeout_ms: 30_000 });
      expect(accepted).toHaveLength(WAVES * (WAVE.bulk + WAVE.lone));
      expect(await cluster.ask('SELECT DISTINCT status FROM invocations')).toEqual([{ status: 'succeeded' }]);
      await checkInvariants(cluster, accepted);
      const [{ lost } = { lost: 0 }] = await cluster.ask<{ lost: number }>(
        `SELECT count(*)::int AS lost FROM attempts WHERE outcome = 'lost'`,
      );
      expect(lost, 'attempts that the kills cost').toBeGreaterThan(0);
    },
    60_000 + 60 * TOTAL,
  );
});

/** Any one, when none has claimed anything within a moment. Another takes its place. */
async function killOneAtWork(cluster: Cluster): Promise<void> {
  const patience = AbortSignal.timeout(300);
  let victim = await findBusyWorker(cluster);
  while (victim === undefined && !patience.aborted) victim = await findBusyWorker(cluster);
  const [any] = cluster.workers;
  (victim ?? any)?.kill('SIGKILL');
  await cluster.startWorker();
  await delay(Math.random() * 100);
}

import { describe, expect, test } from 'vitest';
import { queues } from '../fixtures/queues.js';
import { checkInvariants } from './check-invariants.js';
import { redisFor } from './redis-for.js';
import { type Cluster, startCluster } from './start-cluster.js';
import { type HangingTool, startHangingTool } from './start-hanging-tool.js';
import { submitSums } from './submit-sums.js';
import { untilAllEnded } from './until-all-ended.js';

const TOTAL = Number(process.env.CAPSTAN_CHAOS ?? 600);
const WAVE = { bulk: 150, lone: 50 };
const WAVES = Math.ceil(TOTAL / (WAVE.bulk + WAVE.lone));
const POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [{ id: 'tests', effect: 'allow', match: { tool: ['cap:*', 'http.get'] } }],
  limits: [{ deny_private_ips: false }],
};

describe.each(queues)('on the $name queue', { timeout: 60_000 }, (queue) => {
  test(
    `${TOTAL} invocations end once each while workers are killed and the queue is wiped`,
    async () => {
      const redis = await redisFor(queue);
      const tool = await startHangingTool();
      const cluster = await startCluster({ redis, workers: 3, runners: 'builtin,api', concurrency: 8 });
      await cluster.client.policies.put('default', POLICY);
      const accepted: string[] = [];
      const submit = async () => accepted.push(...(await submitSums(cluster.client, WAVE)).accepted);

      for (let wave = 0; wave < WAVES; wave++) {
        const wiped = redis !== undefined && wave === Math.floor(WAVES / 2);
        if (wiped) await redis.kill();
        const [, hung] = await Promise.all([submit(), killOneAtWork(cluster, tool), wiped && redis.restart()]);
        accepted.push(hung);
      }

      await untilAllEnded(cluster.ask, { timeout_ms: 30_000 });
      expect(accepted).toHaveLength(WAVES * (WAVE.bulk + WAVE.lone + 1));
      expect(await cluster.ask('SELECT DISTINCT status FROM invocation_states')).toEqual([{ status: 'succeeded' }]);
      await checkInvariants(cluster, accepted);
      const lost = await cluster.ask(`SELECT FROM attempts WHERE outcome = 'lost'`);
      expect(lost.length, 'attempts that the kills cost').toBeGreaterThanOrEqual(WAVES);
    },
    60_000 + 60 * TOTAL,
  );
});

/** Whatever else it does, it waits for a tool at that moment. Another takes its place. Answers what it was killed at. */
async function killOneAtWork(cluster: Cluster, tool: HangingTool): Promise<string> {
  const hangs = tool.hangs();
  const { invocation_id } = await cluster.client.submit({
    tool_id: 'http.get',
    inputs: { url: tool.newUrl() },
    max_attempts: 20,
  });
  await hangs;
  const [{ pid } = { pid: 0 }] = await cluster.ask<{ pid: number }>(
    'SELECT pid FROM invocation_states JOIN workers USING (worker_id) WHERE invocation_id = $1',
    [invocation_id],
  );
  const victim = [...cluster.workers].find((worker) => worker.pid === pid);
  if (victim === undefined) throw new Error(`${invocation_id} runs in none of the workers`);
  victim.kill('SIGKILL');
  await cluster.startWorker();
  return invocation_id;
}

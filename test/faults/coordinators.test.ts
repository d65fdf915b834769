import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@capstan/client';
import { describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { checkInvariants } from './check-invariants.js';
import { MixedWork } from './mixed-work.js';
import { redisFor } from './redis-for.js';
import { type Cluster, LONG_LEASE, startCluster } from './start-cluster.js';
import { type CountingTool, startCountingTool } from './start-counting-tool.js';
import { untilAllEnded } from './until-all-ended.js';

const KILLS = Number(process.env.CAPSTAN_KILLS ?? 3);
/** Some of the calls need an approval. */
const POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    { id: 'all', effect: 'allow', match: { tool: '*' } },
    {
      id: 'ask',
      effect: 'hold',
      match: { tool: 'api.call' },
      if: "inputs.url.contains('/asked/')",
      approvals: { allow_self: true },
    },
  ],
  risk: { HIGH: { effect: 'allow' } },
  limits: [{ deny_private_ips: false }],
};

describe.each(queues)('on the $name queue', (queue) => {
  test(
    `all coordinators, killed ${KILLS} times during holds, plans, promotions and schedules, lose nothing and do nothing twice`,
    async () => {
      const tool = await startCountingTool();
      const cluster = await startCluster({ redis: await redisFor(queue), runners: 'builtin,api', env: LONG_LEASE });
      const { client, ask } = cluster;
      await client.policies.put('default', POLICY);
      // With a quota, every call is deferred and then promoted by a coordinator.
      await client.quotas.set('runner:api', { max_concurrent: 6 });
      const inputs = { method: 'POST', url: `${tool.url}/scheduled` };
      const { schedule_id } = await client.schedules.create({
        every_ms: 1000,
        overlap: 'queue',
        tool_id: 'api.call',
        inputs,
      });
      const work = new MixedWork(client, tool);
      const over = new AbortController();
      const people = releaseHolds(client, over.signal);

      await killCoordinators(cluster, tool, () => work.submit());

      await client.schedules.change(schedule_id, { cron: '0 0 1 1 *' });
      for (const run_id of work.run_ids)
        expect(await client.runs.wait(run_id, { timeout_s: 120 })).toMatchObject({ status: 'completed' });
      // Each queued start of the schedule waits for the one before to end.
      await eventually(
        async () => expect(await ask(`SELECT fire_at FROM schedule_fires WHERE outcome = 'queued'`)).toEqual([]),
        { timeout_ms: 120_000 },
      );
      await untilAllEnded(ask, { timeout_ms: 60_000 });
      over.abort();
      await people;

      const starts = await ask(`SELECT fire_at FROM schedule_fires WHERE outcome = 'started'`);
      work.expect('/scheduled', starts.length);
      expect(work.mistakes(), 'calls that were made too often, or not at all').toEqual([]);
      expect((await client.quotas.usage().page()).items).toMatchObject([{ waiting: 0, concurrent: 0 }]);
      await checkInvariants(cluster, work.accepted);
    },
    120_000 + 15_000 * KILLS,
  );
});

/** Kills all coordinators at random moments, with new work, and starts their successors shortly before or after. */
async function killCoordinators(cluster: Cluster, tool: CountingTool, submit: () => Promise<void>): Promise<void> {
  let living = [cluster.coordinator];
  for (let kill = 0; kill < KILLS; kill += 1) {
    await submit();
    const next = () => Promise.all(Array.from({ length: 1 + randomInt(2) }, () => cluster.startCoordinator()));
    const spares = randomInt(2) === 0 ? next() : null;
    await calledAgain(tool);
    await delay(randomInt(200));
    for (const coordinator of living) coordinator.kill('SIGKILL');
    living = await (spares ?? next());
  }
}

/** Waits for the next call of the tool, so that the coordinators are at work. On a busy machine that may take a while. */
async function calledAgain({ calls }: CountingTool): Promise<void> {
  const before = calls.size;
  await eventually(() => calls.size > before, { timeout_ms: 2000 }).catch(() => undefined);
}

/** Approves every hold until the signal. */
async function releaseHolds(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for await (const { hold_id } of client.holds.list()) await client.holds.release(hold_id);
    await delay(randomInt(100));
  }
}

import { holdIdOf } from '@capstan/contracts';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkInvariants } from './check-invariants.js';
import { hardestQueue } from './hardest-queue.js';
import { redisFor } from './redis-for.js';
import { type Cluster, LONG_LEASE, startCluster } from './start-cluster.js';
import { untilAllEnded } from './until-all-ended.js';

const ADD = 'cap:test_math:add';
const HELD = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    { id: 'all', effect: 'allow', match: { tool: '*' } },
    { id: 'ask', effect: 'hold', match: { tool: ADD }, approvals: { allow_self: true }, reason: 'sums need a person' },
  ],
} as const;
const COUNT = 20;

describe.each(hardestQueue)('a coordinator killed during holds, on the $name queue,', { timeout: 60_000 }, (queue) => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ redis: await redisFor(queue), env: LONG_LEASE });
    await cluster.client.policies.put('default', HELD);
  });

  test('costs none of them: each runs once after its release, also those of a plan and those of a grant', async () => {
    const { client, ask } = cluster;
    const { items } = await client.submitBulk(
      Array.from({ length: COUNT }, (_, a) => ({ tool_id: ADD, inputs: { a, b: 1 } })),
    );
    const ids = items.flatMap(({ invocation_id }) => invocation_id ?? []);
    const { run_id, plan_hash } = await client.runs.submit({
      plan: { steps: [1, 2].map((a) => ({ tool: ADD, args: { a, b: 100 } })) },
    });
    cluster.coordinator.kill('SIGKILL');
    await cluster.coordinator.exited;
    await Promise.all(ids.map((id) => client.holds.release(holdIdOf(id))));
    // Nobody is there to use it; whoever comes next does.
    await client.grants.create({ kind: 'plan', plan_hash: plan_hash ?? '' });
    await cluster.startCoordinator();
    await untilAllEnded(ask);
    await client.runs.wait(run_id, { timeout_s: 30 });
    expect(await ask('SELECT status, attempt, count(*)::int FROM invocations GROUP BY 1, 2')).toEqual([
      { status: 'succeeded', attempt: 1, count: COUNT + 2 },
    ]);
    expect(await ask('SELECT status, count(*)::int FROM holds GROUP BY 1')).toEqual([
      { status: 'released', count: COUNT + 2 },
    ]);
    await checkInvariants(cluster, ids);
  });
});

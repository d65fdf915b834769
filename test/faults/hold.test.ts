import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { holdIdOf } from '@capstan/contracts';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue } from '../fixtures/queues.js';
import type { LineProcess } from '../fixtures/start-line-process.js';
import { checkInvariants } from './check-invariants.js';
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

describe.each(hardestQueue)('killing the coordinator on the $name queue', (queue) => {
  let cluster: Cluster;
  /** The current coordinator. */
  let running: LineProcess;
  beforeAll(async () => {
    const webhooks = { CAPSTAN_SECRETS_KEY: '5'.repeat(64), CAPSTAN_WEBHOOK_ALLOW_PRIVATE: 'true' };
    cluster = await startCluster({ redis: await redisFor(queue), env: { ...LONG_LEASE, ...webhooks } });
    running = cluster.coordinator;
    await cluster.client.policies.put('default', HELD);
  });

  test('during holds loses none: each call runs once after its release, by a person or by a grant', async () => {
    const { client, ask } = cluster;
    const { items } = await client.submitBulk(
      Array.from({ length: COUNT }, (_, a) => ({ tool_id: ADD, inputs: { a, b: 1 } })),
    );
    const ids = items.flatMap(({ invocation_id }) => invocation_id ?? []);
    const { run_id, plan_hash } = await client.runs.submit({
      plan: { steps: [1, 2].map((a) => ({ tool: ADD, args: { a, b: 100 } })) },
    });
    running.kill('SIGKILL');
    await running.exited;
    await Promise.all(ids.map((id) => client.holds.release(holdIdOf(id))));
    // There is no coordinator to apply the grant; the next one does.
    await client.grants.create({ kind: 'plan', plan_hash: plan_hash ?? '' });
    running = await cluster.startCoordinator();
    await untilAllEnded(ask);
    await client.runs.wait(run_id, { timeout_s: 60 });
    expect(await ask('SELECT status, attempt, count(*)::int FROM invocation_states GROUP BY 1, 2')).toEqual([
      { status: 'succeeded', attempt: 1, count: COUNT + 2 },
    ]);
    expect(await ask('SELECT status, count(*)::int FROM holds GROUP BY 1')).toEqual([
      { status: 'released', count: COUNT + 2 },
    ]);
    await checkInvariants(cluster, ids);
  });

  test('during a webhook delivery repeats the delivery under the same id', async () => {
    const { client, ask } = cluster;
    const heard: string[] = [];
    const receiver = createServer((request, response) => {
      heard.push(String(request.headers['webhook-id']));
      request.resume();
      // The first request never gets an answer.
      if (heard.length > 1) response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    atEnd(() => new Promise<void>((resolve) => void receiver.close(() => resolve())));
    atEnd(() => receiver.closeAllConnections());
    const { port } = receiver.address() as AddressInfo;
    const { webhook_id } = await client.webhooks.create({ url: `http://127.0.0.1:${port}/`, events: ['hold.created'] });
    const { invocation_id } = await client.submit({ tool_id: ADD, inputs: { a: 1, b: 1 } });
    await eventually(() => heard.length === 1);
    running.kill('SIGKILL');
    await running.exited;
    // Ends the lease of the killed sender early.
    await ask('UPDATE webhook_deliveries SET next_at = now()');
    running = await cluster.startCoordinator();
    await eventually(() => heard.length === 2);
    expect(heard[1]).toBe(heard[0]);
    await eventually(async () => {
      const { items } = await client.webhooks.deliveries(webhook_id).page();
      expect(items).toMatchObject([{ state: 'delivered', attempts: 2, subject: holdIdOf(invocation_id) }]);
    });
    await client.cancel(invocation_id);
  });

  test('during promotions under a quota runs each call once and leaves the usage right', async () => {
    const { client, ask } = cluster;
    await client.policies.put('default', { ...HELD, rules: HELD.rules.slice(0, 1) });
    await client.quotas.set(`tool:${ADD}`, { max_concurrent: 2 });
    const { items } = await client.submitBulk(
      Array.from({ length: 50 }, (_, a) => ({ tool_id: ADD, inputs: { a, b: 1 } })),
    );
    for (let kills = 0; kills < 2; kills += 1) {
      running.kill('SIGKILL');
      await running.exited;
      running = await cluster.startCoordinator();
    }
    await untilAllEnded(ask);
    const usage = async () => (await client.quotas.usage().page()).items;
    expect(await usage()).toMatchObject([{ concurrent: 0, waiting: 0, calls_today: 50 }]);
    const ids = items.flatMap(({ invocation_id }) => invocation_id ?? []);
    await checkInvariants(cluster, ids);
    await client.quotas.remove(`tool:${ADD}`);
  });
});

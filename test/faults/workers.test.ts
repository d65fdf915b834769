import type { Client } from '@capstan/client';
import { codeOf } from '@capstan/contracts';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { startTaskServer } from '../fixtures/start-task-server.js';
import { MCP_POLICY } from '../flow/mcp-policy.js';
import { checkInvariants } from './check-invariants.js';
import { findBusyWorker } from './find-busy-worker.js';
import { freezeBusyWorker } from './freeze-busy-worker.js';
import { POISON, poisonable } from './poison.js';
import { redisFor } from './redis-for.js';
import { type Cluster, startCluster } from './start-cluster.js';
import { stopInTime } from './stop-in-time.js';
import { submitSums } from './submit-sums.js';
import { superviseWorkers } from './supervise-workers.js';
import { untilAllEnded } from './until-all-ended.js';
import { untilStatus } from './until-status.js';

describe.each(queues)('on the $name queue', (queue) => {
  let cluster: Cluster;
  let client: Client;
  beforeAll(async () => {
    const env = { ...poisonable(), CAPSTAN_METRICS_PORT: '0' };
    cluster = await startCluster({ redis: await redisFor(queue), workers: 2, concurrency: 16, env });
    client = cluster.client;
  });

  test('workers that are told to stop one after the other stop in time and lose nothing', async () => {
    const accepted: string[] = [];
    for (const worker of await cluster.workersFor('builtin', 2)) {
      accepted.push(...(await submitSums(client, { bulk: 1_000, lone: 0 })).accepted);
      await eventually(async () =>
        expect(await findBusyWorker({ ...cluster, workers: new Set([worker]) })).toBe(worker),
      );
      await stopInTime(worker);
      await cluster.workersFor('builtin', 1);
    }
    await untilAllEnded(cluster.ask);
    const lost = `SELECT a.* FROM attempts a JOIN workers w USING (worker_id)
      WHERE a.outcome = 'lost' AND w.stopped_at IS NOT NULL`;
    expect(await cluster.ask(lost)).toEqual([]);
    await checkInvariants(cluster, accepted);
  });

  test('idempotent calls of a worker that is frozen past its lease are done by others, and not again when it wakes', async () => {
    const both = await cluster.workersFor('builtin', 2);
    const { accepted } = await submitSums(client, { bulk: 1_000, lone: 0 });
    const frozen = await freezeBusyWorker(cluster);
    await untilAllEnded(cluster.ask);
    const lost = await cluster.ask(`SELECT FROM attempts WHERE outcome = 'lost'`);
    expect(lost.length).toBeGreaterThan(0);

    frozen.kill('SIGCONT');
    await frozen.waitForLine(/the lease was lost/);
    for (const other of both) if (other !== frozen) other.kill('SIGKILL');
    const { accepted: later } = await submitSums(client, { bulk: 10, lone: 10 });
    await untilAllEnded(cluster.ask);
    await checkInvariants(cluster, [...accepted, ...later]);
  });

  test('an invocation that kills every worker fails after its last attempt, is counted as rescued, and the others succeed', async () => {
    onTestFinished(superviseWorkers(cluster, await cluster.workersFor('builtin', 1)));
    const before = await rescuedOf(cluster);
    const poison = await client.submit({ tool_id: 'cap:test_math:add', inputs: POISON, max_attempts: 2 });
    const { accepted } = await submitSums(client, { bulk: 200, lone: 20 });
    const { result, attempts } = await untilStatus(client, poison.invocation_id, 'failed');
    expect(result).toMatchObject({ success: false, code: codeOf('WORKER_LOST') });
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'lost']);
    await cluster.coordinator.waitForLine(
      new RegExp(`${poison.invocation_id}.*"attempt":2,"outcome":"lost","status":"failed".*attempt ended`),
    );
    const after = await rescuedOf(cluster);
    expect(after.failed - before.failed).toBe(1);
    expect(after.queued).toBeGreaterThan(before.queued);

    await untilAllEnded(cluster.ask);
    const statuses = 'SELECT DISTINCT status FROM invocation_states WHERE invocation_id = ANY ($1)';
    expect(await cluster.ask(statuses, [accepted])).toEqual([{ status: 'succeeded' }]);
    await checkInvariants(cluster, [poison.invocation_id, ...accepted]);
  });

  test('a task at an MCP server goes on when its worker is killed, and the next worker brings its result', async () => {
    const upstream = await startTaskServer();
    const [first] = await cluster.workersFor('mcp', 1);
    await client.policies.put('default', MCP_POLICY);
    await client.mcpServers.add({ name: 'tasks', url: upstream.url });
    const { invocation_id } = await client.submit({ tool_id: 'mcp:tasks:wait', inputs: { name: 'long' } });
    await eventually(() => expect(upstream.asked_about).toContain('long'));
    first?.kill('SIGKILL');
    await first?.exited;
    upstream.asked_about.clear();

    await cluster.workersFor('mcp', 1);
    await eventually(() => expect(upstream.asked_about).toContain('long'), { timeout_ms: 20_000 });
    upstream.finish('long', 'done at last');
    const { result, attempts } = await untilStatus(client, invocation_id, 'succeeded');
    expect(result?.payload).toMatchObject({ content: [{ type: 'text', text: 'done at last' }] });
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'succeeded']);
    expect(upstream.calls).toEqual(['long']);
  });
});

/** How many calls of lost workers were queued again and how many failed, by the metrics of the coordinator. */
async function rescuedOf({ coordinator }: Cluster): Promise<{ queued: number; failed: number }> {
  const [, url = ''] = await coordinator.waitForLine(/"url":"([^"]+)".*serving metrics/);
  const metrics = await (await fetch(url)).text();
  const count = (status: string) =>
    Number(
      new RegExp(`^capstan_rescued_total\\{runner="builtin",status="${status}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ??
        0,
    );
  return { queued: count('queued'), failed: count('failed') };
}

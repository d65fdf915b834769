import type { Client } from '@capstan/client';
import { codeOf } from '@capstan/contracts';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
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

describe.each(queues)('on the $name queue', { timeout: 60_000 }, (queue) => {
  let cluster: Cluster;
  let client: Client;
  beforeAll(async () => {
    cluster = await startCluster({ redis: await redisFor(queue), workers: 2, concurrency: 16, env: poisonable() });
    client = cluster.client;
  });

  test('workers that are told to stop one after the other end in time and lose nothing', async () => {
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

  test('idempotent work of a worker frozen past its lease is done by others, and by nobody twice when it wakes', async () => {
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

  test('an invocation that kills every worker fails after its attempts, and the others succeed', async () => {
    onTestFinished(superviseWorkers(cluster, await cluster.workersFor('builtin', 1)));
    const poison = await client.submit({ tool_id: 'cap:test_math:add', inputs: POISON, max_attempts: 2 });
    const { accepted } = await submitSums(client, { bulk: 200, lone: 20, max_attempts: 3 });
    const { result, attempts } = await untilStatus(client, poison.invocation_id, 'failed');
    expect(result).toMatchObject({ success: false, code: codeOf('WORKER_LOST') });
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'lost']);

    await untilAllEnded(cluster.ask);
    const statuses = 'SELECT DISTINCT status FROM invocation_states WHERE invocation_id = ANY ($1)';
    expect(await cluster.ask(statuses, [accepted])).toEqual([{ status: 'succeeded' }]);
    await checkInvariants(cluster, [poison.invocation_id, ...accepted]);
  });
});

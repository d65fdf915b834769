import type { Client } from '@capstan/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { allowShell } from './allow-shell.js';
import { checkInvariants } from './check-invariants.js';
import { processIsGone } from './process-is-gone.js';
import { redisFor } from './redis-for.js';
import { type Cluster, startCluster } from './start-cluster.js';
import { startSleeper } from './start-sleeper.js';
import { stopInTime } from './stop-in-time.js';
import { untilStatus } from './until-status.js';

/** Commands are not idempotent, so a second run may do harm. */
describe.each(queues)('on the $name queue', (queue) => {
  let cluster: Cluster;
  let client: Client;
  beforeAll(async () => {
    cluster = await startCluster({ redis: await redisFor(queue), runners: 'exec' });
    client = cluster.client;
    await allowShell(client);
  });

  test('canceling a call stops its command in the worker process', async () => {
    await cluster.workersFor('exec', 1);
    const { invocation_id, pid } = await startSleeper(client);
    await client.cancel(invocation_id);
    await untilStatus(client, invocation_id, 'canceled');
    expect(processIsGone(pid)).toBe(true);
    expect(await howItEnded(client, invocation_id)).toMatchObject({
      status: 'canceled',
      result: { success: false, error: 'canceled while running', payload: { stdout: 'up\n' } },
      attempts: ['canceled'],
    });
    await checkInvariants(cluster, [invocation_id]);
  });

  test('a command whose worker is frozen past its lease ends ambiguous, and stays so when the worker wakes', async () => {
    const [worker] = await cluster.workersFor('exec', 1);
    const { invocation_id, pid } = await startSleeper(client);
    worker?.kill('SIGSTOP');
    await untilStatus(client, invocation_id, 'ambiguous');

    worker?.kill('SIGCONT');
    await worker?.waitForLine(/late result refused/);
    expect(processIsGone(pid)).toBe(true);
    expect(await howItEnded(client, invocation_id)).toEqual({
      status: 'ambiguous',
      result: null,
      attempts: ['refused'],
    });
    await checkInvariants(cluster, [invocation_id]);

    await client.resolve(invocation_id, { outcome: 'succeeded', comment: 'it slept' });
    expect(await client.get(invocation_id)).toMatchObject({ status: 'succeeded', result: { success: true } });
    await checkInvariants(cluster);
  });

  test('a command whose worker is killed is stopped, ends ambiguous and is not retried', async () => {
    const [worker] = await cluster.workersFor('exec', 1);
    const { invocation_id, pid } = await startSleeper(client);
    worker?.kill('SIGKILL');
    await eventually(() => processIsGone(pid));
    await untilStatus(client, invocation_id, 'ambiguous');
    // When this call has ended, everything that waited before it has been taken.
    await cluster.startWorker({ runners: 'exec' });
    await client.submit({ tool_id: 'shell.run', inputs: { cmd: ['true'] } }, { wait_s: 30 });
    expect(await howItEnded(client, invocation_id)).toEqual({ status: 'ambiguous', result: null, attempts: ['lost'] });
    await checkInvariants(cluster, [invocation_id]);
  });

  test('a command that runs longer than its worker has to stop ends ambiguous, and the worker stops in time', async () => {
    const [worker] = await cluster.workersFor('exec', 1);
    const { invocation_id, pid } = await startSleeper(client);
    await stopInTime(worker);
    expect(processIsGone(pid)).toBe(true);
    expect(await howItEnded(client, invocation_id)).toEqual({
      status: 'ambiguous',
      result: null,
      attempts: ['ambiguous'],
    });
    await checkInvariants(cluster, [invocation_id]);
  });
});

async function howItEnded(client: Client, invocation_id: string) {
  const { status, result, attempts } = await client.get(invocation_id);
  return { status, result, attempts: attempts.map(({ outcome }) => outcome) };
}

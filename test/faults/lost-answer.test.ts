import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue } from '../fixtures/queues.js';
import type { LineProcess } from '../fixtures/start-line-process.js';
import { allowShell } from './allow-shell.js';
import { checkInvariants } from './check-invariants.js';
import { redisFor } from './redis-for.js';
import { type Cluster, startCluster } from './start-cluster.js';
import { type LossyProxy, startLossyProxy } from './start-lossy-proxy.js';
import { submitSums } from './submit-sums.js';
import { untilAllEnded } from './until-all-ended.js';
import { untilStatus } from './until-status.js';

/** The statement by which a worker takes ownership of a command, on either queue. */
const CLAIM = 'own-claims';
const command = (...cmd: string[]) => ({ tool_id: 'shell.run', inputs: { cmd } });

describe.each(hardestQueue)('when a connection to Postgres breaks at a bad moment, on the $name queue,', (queue) => {
  let cluster: Cluster;
  let proxy: LossyProxy;
  let worker: LineProcess;
  beforeAll(async () => {
    proxy = await startLossyProxy((await createTestDatabase()).url);
    cluster = await startCluster({ redis: await redisFor(queue), database_url: proxy.url, workers: 0 });
    [worker] = await Promise.all([startWorker(), allowShell(cluster.client)]);
  });

  const startWorker = () => cluster.startWorker({ runners: 'builtin,exec', concurrency: 1 });
  // The next test cannot work with processes that crashed in the one before.
  beforeEach(() => expect(cluster.crashes).toEqual([]));

  test('a submission whose commit is not confirmed is answered 503, and still runs once', async () => {
    const lost = proxy.loseAnswer('insert-invocations');
    const { refused } = await submitSums(cluster.client, { bulk: 0, lone: 1 });
    await lost;
    expect(refused).toHaveLength(1);
    await untilAllEnded(cluster.ask);
    expect(await cluster.ask('SELECT status, attempt FROM invocation_states')).toEqual([
      { status: 'succeeded', attempt: 1 },
    ]);
    await checkInvariants(cluster);
  });

  test('a command does not fail because its policy could not be read', async () => {
    await allowShell(cluster.client, 'a version that no worker has read yet');
    const lost = proxy.loseStatement('from "policies" where "policy_hash"');
    const { invocation_id } = await cluster.client.submit(command('true'));
    await lost;
    await untilStatus(cluster.client, invocation_id, 'succeeded');
    await checkInvariants(cluster, [invocation_id]);
  });

  test('the log of a command is complete', async () => {
    const lost = proxy.loseStatement('append-logs');
    const { invocation_id } = await cluster.client.submit(command('echo', 'every word'));
    await lost;
    await untilStatus(cluster.client, invocation_id, 'succeeded');
    const lines = await cluster.ask('SELECT text FROM logs WHERE invocation_id = $1', [invocation_id]);
    expect(lines).toEqual([{ text: 'every word\n' }]);
  });

  test('a result that was stored is not refused when it is sent again', async () => {
    const lost = proxy.loseAnswer('end-calls', 'SELECT');
    const { accepted } = await submitSums(cluster.client, { bulk: 0, lone: 1 });
    await lost;
    const [invocation_id = ''] = accepted;
    const sentAgain = await proxy.delayAnswer(invocation_id);
    sentAgain();
    // Settlements are written one after the other, so the outcome of the first is on record before the next one.
    await submitSums(cluster.client, { bulk: 0, lone: 1 });
    await untilAllEnded(cluster.ask);
    await checkInvariants(cluster, accepted);
  });

  test('a claim whose answer did not reach the worker is made again', async () => {
    const lost = proxy.loseAnswer(queue.name === 'redis' ? CLAIM : 'claim-next', 'inv_');
    // A call with an idempotency key may be known already, so it is not handed over with its commit.
    const sum = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 }, idempotency_key: 'once' };
    const { invocation_id } = await cluster.client.submit(sum);
    await lost;
    await untilStatus(cluster.client, invocation_id, 'succeeded');
    await checkInvariants(cluster, [invocation_id]);
  });

  test('a command that was claimed but never started does not end ambiguous', async () => {
    const lost = proxy.loseAnswer(CLAIM, 'inv_');
    const { invocation_id } = await cluster.client.submit(command('true'));
    await lost;
    await untilStatus(cluster.client, invocation_id, 'succeeded');
  });

  test('a worker that learns of its claim after the end of its lease does not start the command', async () => {
    const delayed = proxy.delayAnswer(CLAIM, 'inv_');
    const { invocation_id } = await cluster.client.submit(command('echo', 'ran'));
    const release = await delayed;
    worker.kill('SIGSTOP');
    await untilStatus(cluster.client, invocation_id, 'ambiguous');
    release();
    worker.kill('SIGCONT');
    await worker.waitForLine(/the lease was lost/);
    await untilBackAtWork();
    expect(await whatItSaid(invocation_id)).toEqual([]);
  });

  test('a worker that gets a delayed claim of a command that has already run does not run it again', async () => {
    const delayed = proxy.delayAnswer(CLAIM, 'inv_');
    const { invocation_id } = await cluster.client.submit(command('echo', 'ran'));
    const release = await delayed;
    const other = await cluster.startWorker({ runners: 'exec' });
    await untilStatus(cluster.client, invocation_id, 'succeeded');
    release();
    other.kill('SIGTERM');
    await other.exited;
    await untilBackAtWork();
    expect(await whatItSaid(invocation_id)).toEqual(['ran\n']);
  });

  test('a worker that is told to stop during a claim neither loses it nor leaves it to be run twice', async () => {
    const delayed = proxy.delayAnswer(CLAIM, 'inv_');
    const { invocation_id } = await cluster.client.submit(command('echo', 'ran'));
    const release = await delayed;
    worker.kill('SIGTERM');
    // It should wait for the answer. If it does not, it ends its lease within this time.
    const ended = () => cluster.ask('SELECT FROM workers WHERE draining AND stopped_at IS NOT NULL');
    await eventually(async () => (await ended()).length > 0, { timeout_ms: 1_000 }).catch(() => undefined);
    release();
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    worker = await startWorker();
    const { attempts } = await untilStatus(cluster.client, invocation_id, 'succeeded');
    expect(attempts.map(({ outcome }) => outcome)).not.toContain('lost');
    expect(await whatItSaid(invocation_id)).toEqual(['ran\n']);
  });

  /** The output of all attempts. Output leaves the sandbox, files do not. */
  const whatItSaid = async (invocation_id: string) =>
    (await cluster.ask(`SELECT text FROM logs WHERE invocation_id = '${invocation_id}'`)).map(({ text }) => text);

  /** When the worker has run another command, it has dealt with its earlier claim. */
  const untilBackAtWork = async () => {
    const { invocation_id } = await cluster.client.submit(command('true'));
    await untilStatus(cluster.client, invocation_id, 'succeeded');
  };
});

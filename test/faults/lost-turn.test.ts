import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue, queues } from '../fixtures/queues.js';
import type { LineProcess } from '../fixtures/start-line-process.js';
import { stepsOf } from '../flow/steps-of.js';
import { checkInvariants } from './check-invariants.js';
import { redisFor } from './redis-for.js';
import { type Cluster, LONG_LEASE, startCluster } from './start-cluster.js';

const ADD = 'cap:test_math:add';
const PLAN = {
  steps: [
    { id: 'one', needs: [], tool: ADD, args: { a: 1, b: 0 } },
    { id: 'two', needs: [], tool: ADD, args: { a: 2, b: 0 } },
    { id: 'sum', needs: ['one', 'two'], tool: ADD, args: { a: '${{ steps.one.output.result }}', b: 2 } },
  ],
};

describe.each(queues)('plan calls that a coordinator committed before it was lost, on the $name queue,', (queue) => {
  let cluster: Cluster;
  let coordinator: LineProcess;
  beforeAll(async () => {
    cluster = await startCluster({ redis: await redisFor(queue), env: LONG_LEASE });
    coordinator = cluster.coordinator;
  });

  const callsOf = (run_id: string) =>
    cluster.ask(`SELECT invocation_id, attempt, status FROM invocation_states WHERE run_id = '${run_id}' ORDER BY seq`);

  const untilCalls = (run_id: string, status: string) =>
    eventually(async () => expect(await callsOf(run_id)).toMatchObject([{ status }, { status }]), {
      timeout_ms: 20_000,
    });

  /** Makes a run whose first two calls have ended although the coordinator was lost before it stored their steps. */
  const loseTurn = async (by: 'SIGKILL' | 'SIGSTOP'): Promise<string> => {
    const { client, ask, database_url } = cluster;
    coordinator.kill('SIGSTOP');
    const { run_id } = await client.runs.submit({ plan: PLAN });
    const locker = new pg.Client({ connectionString: database_url });
    await locker.connect();
    try {
      await locker.query('BEGIN');
      // With the run locked, neither the calls can be settled nor the steps be stored.
      await locker.query('SELECT FROM runs WHERE run_id = $1 FOR UPDATE', [run_id]);
      coordinator.kill('SIGCONT');
      await untilCalls(run_id, 'running');
      coordinator.kill(by);
      if (by === 'SIGKILL') await coordinator.exited;
    } finally {
      await locker.end();
    }
    await untilCalls(run_id, 'succeeded');
    expect(await ask(`SELECT status FROM steps WHERE run_id = '${run_id}'`)).toEqual([]);
    return run_id;
  };

  test('are found by the next coordinator, and not made again', async () => {
    const run_id = await loseTurn('SIGKILL');
    const before = await callsOf(run_id);
    coordinator = await cluster.startCoordinator();
    expect(await cluster.client.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({
      status: 'completed',
      completed_steps: 3,
    });
    expect((await callsOf(run_id)).slice(0, 2)).toEqual(before);
    expect((await stepsOf(cluster.client, run_id)).map(({ result }) => result?.payload)).toEqual([
      { result: 1 },
      { result: 2 },
      { result: 3 },
    ]);
    await checkInvariants(cluster, []);
  });

  test('keep their outcome if the run is canceled meanwhile', async () => {
    const run_id = await loseTurn('SIGKILL');
    await cluster.client.runs.cancel(run_id);
    coordinator = await cluster.startCoordinator();
    expect(await cluster.client.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({
      status: 'canceled',
      total_steps: 3,
      completed_steps: 2,
      canceled_steps: 1,
    });
    expect((await stepsOf(cluster.client, run_id)).map(({ status }) => status)).toEqual([
      'succeeded',
      'succeeded',
      'canceled',
    ]);
    await checkInvariants(cluster, []);
  });

  // Waits until Postgres ends the transaction of the frozen coordinator, which is the same on both queues.
  if (!hardestQueue.includes(queue)) return;
  test('are found by another coordinator if the first is frozen, which does no harm when it wakes', async () => {
    const run_id = await loseTurn('SIGSTOP');
    const frozen = coordinator;
    coordinator = await cluster.startCoordinator();
    expect(await cluster.client.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({ completed_steps: 3 });
    frozen.kill('SIGCONT');
    coordinator.kill('SIGKILL');
    await coordinator.exited;
    const { run_id: next } = await cluster.client.runs.submit({ plan: PLAN });
    expect(await cluster.client.runs.wait(next, { timeout_s: 60 })).toMatchObject({ completed_steps: 3 });
    coordinator = frozen;
    await checkInvariants(cluster, []);
  });
});

import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue } from '../fixtures/queues.js';
import { allowShell } from './allow-shell.js';
import { checkInvariants } from './check-invariants.js';
import type { Ask } from './open-questions.js';
import { redisFor } from './redis-for.js';
import { shiftedClock } from './shifted-clock.js';
import { type Cluster, LONG_LEASE, startCluster } from './start-cluster.js';
import { untilAllEnded } from './until-all-ended.js';

const HOUR_MS = 3_600_000;
const COUNT = 100;
const sum = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } };
const command = (cmd: string[]) => ({ tool_id: 'shell.run', inputs: { cmd } });

describe.each(hardestQueue)('clocks an hour ahead and an hour behind, on the $name queue,', (queue) => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({
      redis: await redisFor(queue),
      workers: 0,
      env: { ...shiftedClock(HOUR_MS), ...LONG_LEASE },
    });
    await Promise.all([cluster.startWorker({ env: shiftedClock(-HOUR_MS) }), allowShell(cluster.client)]);
  });
  const submit = async (submission: object) => {
    const { items } = await cluster.client.submitBulk(Array.from({ length: COUNT }, () => submission));
    return items.flatMap(({ invocation_id }) => invocation_id ?? []);
  };

  test('expire nothing early and run nothing twice', async () => {
    const ids = [
      ...(await submit({ ...sum, expires_in_ms: 60_000 })),
      ...(await submit({ ...sum, delay_ms: 200, expires_in_ms: 60_000 })),
    ];
    await untilAllEnded(cluster.ask);
    expect(await howTheyEnded(cluster.ask, ids)).toEqual([{ status: 'succeeded', attempt: 1, count: 2 * COUNT }]);
    await checkInvariants(cluster, ids);
  });

  test('expire nothing late', async () => {
    // There is no exec worker yet.
    const ids = await submit({ ...command(['true']), expires_in_ms: 300 });
    await untilAllEnded(cluster.ask);
    expect(await howTheyEnded(cluster.ask, ids)).toEqual([{ status: 'expired', attempt: 0, count: COUNT }]);
  });

  test('delay no retry', async () => {
    const ahead = await cluster.startWorker({ runners: 'exec' });
    const { invocation_id } = await cluster.client.submit({ ...command(['false']), max_attempts: 2 });
    await eventually(async () =>
      expect(await cluster.client.get(invocation_id)).toMatchObject({ status: 'queued', attempt: 1 }),
    );
    ahead.kill('SIGKILL');
    await cluster.startWorker({ runners: 'exec', env: shiftedClock(0) });
    await untilAllEnded(cluster.ask);
    expect(await howTheyEnded(cluster.ask, [invocation_id])).toEqual([{ status: 'failed', attempt: 2, count: 1 }]);
    await checkInvariants(cluster, [invocation_id]);
  });
});

const howTheyEnded = (ask: Ask, ids: string[]) =>
  ask(
    `SELECT status, attempt, count(*)::int FROM invocation_states WHERE invocation_id = ANY ($1) GROUP BY status, attempt`,
    [ids],
  );

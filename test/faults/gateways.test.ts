import { CapstanError } from '@capstan/client';
import { codeOf } from '@capstan/contracts';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import type { TestRedis } from '../fixtures/start-test-redis.js';
import { checkInvariants } from './check-invariants.js';
import { redisFor } from './redis-for.js';
import { type Cluster, type RunningGateway, startCluster } from './start-cluster.js';
import { submitSums } from './submit-sums.js';
import { untilAllEnded } from './until-all-ended.js';

describe.each(queues)('on the $name queue', (queue) => {
  let redis: TestRedis | undefined;
  let cluster: Cluster;
  let other: RunningGateway;
  beforeAll(async () => {
    redis = await redisFor(queue);
    cluster = await startCluster({ redis });
    other = await cluster.startGateway();
  });
  /** Submits one idempotency key 50 times to each of two gateways. */
  const submitAll = (idempotency_key: string, a: (index: number) => number) =>
    Promise.allSettled(
      [cluster, other].flatMap(({ client }) =>
        Array.from({ length: 50 }, (_, index) =>
          client.submit({ tool_id: 'cap:test_math:add', inputs: { a: a(index), b: 1 }, idempotency_key }),
        ),
      ),
    );

  test('100 submissions with one idempotency key make one invocation and get the same answer', async () => {
    const answers = await submitAll('the same', () => 1);
    const ids = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.invocation_id : answer.reason));
    expect(ids).toHaveLength(100);
    expect(new Set(ids).size).toBe(1);
    await untilAllEnded(cluster.ask);
    await checkInvariants(cluster, [...new Set(ids)]);
  });

  test('of different calls with one idempotency key, the first is accepted and the others are refused', async () => {
    const answers = await submitAll('contested', (index) => index);
    const taken = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    // Every call was sent to both gateways, so the accepted one was accepted twice.
    expect(new Set(taken.map(({ invocation_id }) => invocation_id)).size).toBe(1);
    expect([taken.length, refused.length]).toEqual([2, 98]);
    for (const reason of refused) {
      expect(reason).toBeInstanceOf(CapstanError);
      expect(reason).toMatchObject({ status: 409, code: codeOf('IDEMPOTENCY_CONFLICT') });
    }
    await untilAllEnded(cluster.ask);
    await checkInvariants(cluster);
  });

  test('every call that a gateway accepted before it was killed ends', async () => {
    const { client, gateway, ask } = cluster;
    const before = await countInvocations(cluster);
    const submitting = submitSums(client, { bulk: 100, lone: 400 });
    // In the middle: some calls are committed, and not all are answered.
    await eventually(async () => (await countInvocations(cluster)) > before);
    gateway.process.kill('SIGKILL');
    const { accepted, refused } = await submitting;
    expect(refused.length, 'submissions that were cut off').toBeGreaterThan(0);
    await untilAllEnded(ask);
    await checkInvariants(cluster, accepted);
  });

  test.runIf(queue.name === 'redis')(
    'calls that a gateway committed and could not queue are delivered without it',
    async () => {
      const { ask } = cluster;
      await redis?.kill();
      const { accepted, refused } = await submitSums(other.client, { bulk: 20, lone: 20 });
      expect(refused).toEqual([]);
      other.process.kill('SIGKILL');
      await other.process.exited;
      await redis?.restart();
      await untilAllEnded(ask);
      await eventually(async () => expect(await ask('SELECT claim_id FROM claims')).toEqual([]));
      await checkInvariants(cluster, accepted);
    },
  );
});

async function countInvocations({ ask }: Cluster): Promise<number> {
  const [row] = await ask<{ count: number }>('SELECT count(*)::int FROM invocations');
  return row?.count ?? 0;
}

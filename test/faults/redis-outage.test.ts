import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { findRedisBinary } from '../fixtures/find-redis-binary.js';
import { startTestRedis, type TestRedis } from '../fixtures/start-test-redis.js';
import { checkInvariants } from './check-invariants.js';
import { type Cluster, startCluster } from './start-cluster.js';
import { submitSums } from './submit-sums.js';
import { untilAllEnded } from './until-all-ended.js';

const OUTAGE_MS = 3_000;

describe.runIf(findRedisBinary())('while Redis', () => {
  let redis: TestRedis;
  let cluster: Cluster;
  beforeAll(async () => {
    redis = await startTestRedis();
    cluster = await startCluster({ redis });
  });

  test('is down, gateways are ready and submissions are accepted, and they run once it is back', async () => {
    const { client, ask, gateway } = cluster;
    const before = await submitSums(client, { bulk: 500, lone: 20 });
    await redis.kill();
    const during = await submitSums(client, { bulk: 50, lone: 50 });
    await eventually(async () => {
      const response = await fetch(`${gateway.url}/readyz`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ ready: true, queue: { kind: 'redis', ok: false } });
    });
    await delay(OUTAGE_MS);
    const late = await submitSums(client, { bulk: 50, lone: 50 });
    await redis.restart();
    await untilAllEnded(ask);
    expect([...during.refused, ...late.refused]).toEqual([]);
    await checkInvariants(cluster, [...before.accepted, ...during.accepted, ...late.accepted]);
  });

  test('hangs, submissions are accepted, and they run once it answers', async () => {
    const { client, ask } = cluster;
    process.kill(redis.pid, 'SIGSTOP');
    const { accepted, refused } = await submitSums(client, { bulk: 50, lone: 50 });
    await delay(OUTAGE_MS);
    process.kill(redis.pid, 'SIGCONT');
    await untilAllEnded(ask);
    expect(refused).toEqual([]);
    await checkInvariants(cluster, accepted);
  });

  test('is out of memory, submissions are accepted, and they run once it has memory again', async () => {
    const { client, ask } = cluster;
    await setMemory(redis, '1');
    const { accepted, refused } = await submitSums(client, { bulk: 50, lone: 50 });
    await setMemory(redis, '0');
    await untilAllEnded(ask);
    expect(refused).toEqual([]);
    await checkInvariants(cluster, accepted);
  });

  test('is wiped, all waiting calls are queued again', async () => {
    const { client, ask, workers } = cluster;
    for (const worker of workers) {
      worker.kill('SIGTERM');
      await worker.exited;
    }
    const { accepted } = await submitSums(client, { bulk: 500, lone: 50 });
    await flush(redis);
    await cluster.startWorker();
    await untilAllEnded(ask);
    await checkInvariants(cluster, accepted);
  });
});

const flush = (redis: TestRedis) => command(redis, (connection) => connection.flushall());
const setMemory = (redis: TestRedis, bytes: string) =>
  command(redis, (connection) => connection.config('SET', 'maxmemory', bytes));

async function command({ url }: TestRedis, send: (connection: Redis) => Promise<unknown>): Promise<void> {
  const connection = new Redis(url);
  await send(connection);
  connection.disconnect();
}

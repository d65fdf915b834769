import { createRedisQueue } from '@capstan/queue/redis';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { findRedisBinary } from '../fixtures/find-redis-binary.js';
import { startTestRedis } from '../fixtures/start-test-redis.js';

const delivery = (claim_id: string) => ({ claim_id, runner: 'builtin', size: 1, priority: 0, ahead: false }) as const;

describe.runIf(findRedisBinary())('the Redis queue', () => {
  test('delivers after an outage that began before its first delivery', async () => {
    const redis = await startTestRedis();
    const queue = await createRedisQueue(redis.url, () => {});
    atEnd(() => queue.close());
    await redis.kill();
    await expect(queue.deliver([delivery('clm_1')])).rejects.toThrow();
    await redis.restart();
    await eventually(() => queue.deliver([delivery('clm_2')]));
    expect(await queue.counts('builtin')).toMatchObject({ waiting: 1 });
  });
});

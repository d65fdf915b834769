import type { QueueUnderTest } from '../fixtures/queues.js';
import { startTestRedis, type TestRedis } from '../fixtures/start-test-redis.js';

/** A Redis for the Redis queue, undefined for the other. It loses everything when it is killed. */
export async function redisFor({ name }: QueueUnderTest): Promise<TestRedis | undefined> {
  return name === 'redis' ? startTestRedis({ appendonly: false }) : undefined;
}

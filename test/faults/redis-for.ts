import type { QueueUnderTest } from '../fixtures/queues.js';
import { startTestRedis, type TestRedis } from '../fixtures/start-test-redis.js';

/** The Redis that a queue needs, if it does: it keeps nothing over a kill. */
export async function redisFor({ name }: QueueUnderTest): Promise<TestRedis | undefined> {
  return name === 'redis' ? startTestRedis({ appendonly: false }) : undefined;
}

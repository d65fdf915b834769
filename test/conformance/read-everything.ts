import type { Redis } from 'ioredis';

/** Every key of a Redis with its value. */
export async function readEverything(redis: Redis): Promise<Map<string, unknown>> {
  const held = new Map<string, unknown>();
  for (const key of await redis.keys('*')) held.set(key, await readKey(redis, key));
  return held;
}

async function readKey(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'stream':
      return redis.xrange(key, '-', '+');
    case 'none': // gone meanwhile
      return null;
    default:
      throw new Error(`${key} is a ${type}, which nobody expects in Redis`);
  }
}

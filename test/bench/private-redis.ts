import { execa } from 'execa';
import { Redis } from 'ioredis';
import type { Cleanup } from './cleanup.js';
import { freePort } from './free-port.js';
import { pollUntil } from './poll-until.js';

/** A Redis of the bench's own, with nothing durable: raw BullMQ at its fastest is the measure. Answers its URL. */
export async function startPrivateRedis({
  directory,
  cleanup,
}: {
  directory: string;
  cleanup: Cleanup;
}): Promise<string> {
  const port = await freePort();
  const server = execa(
    'redis-server',
    [
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--maxmemory-policy',
      'noeviction',
    ],
    { cwd: directory, stdio: 'ignore', reject: false },
  );
  await cleanup.defer(async () => {
    server.kill();
    await server;
  });
  await pollUntil(() => answersPing(port), { every_ms: 50, within_ms: 10_000, what: 'redis-server answers' });
  return `redis://127.0.0.1:${port}`;
}

async function answersPing(port: number): Promise<boolean> {
  const redis = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {}); // refused connections are expected until it listens
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

import { Redis, type RedisOptions } from 'ioredis';

type Patience = Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout'>;

/** `redis://`, `rediss://` (TLS), with user and password in the URL. */
export function connectRedis(url: string, patience: Patience, onError: (error: Error) => void): Redis {
  const redis = new Redis(url, {
    connectTimeout: 5000,
    keepAlive: 10_000,
    retryStrategy: (tries) => Math.min(50 * 2 ** Math.min(tries, 6), 2000),
    ...patience,
  });
  // Without a listener ioredis prints every failed reconnection itself.
  redis.on('error', onError);
  return redis;
}

/** For producers: a command that cannot be sent now fails now. */
export const FAIL_FAST: Patience = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 5000 };
/** For consumers: blocking commands wait for as long as it takes. */
export const PATIENT: Patience = { maxRetriesPerRequest: null };

export async function untilReady(redis: Redis, timeout_ms: number): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    let why = '';
    const timer = setTimeout(() => reject(new Error(`Redis did not answer within ${timeout_ms} ms${why}`)), timeout_ms);
    redis.on('error', (error) => {
      why = `: ${error.message}`;
    });
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Any other policy lets Redis drop jobs when memory runs short. INFO, because hosted Redis often refuses CONFIG. */
export async function requireNoEviction(redis: Redis): Promise<void> {
  const policy = infoField(await redis.info('memory'), 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    throw new Error(
      `Redis runs with maxmemory-policy ${policy}, which may drop queued work. Set it to noeviction: CONFIG SET maxmemory-policy noeviction`,
    );
}

export const infoField = (info: string, field: string): string | undefined =>
  new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1];

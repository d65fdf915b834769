import { Redis, type RedisOptions } from 'ioredis';

type Patience = Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout'>;

/** For producers: a command that cannot be sent now fails now. */
export const FAIL_FAST: Patience = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 5000 };
/** For consumers: a command waits until Redis is back. */
export const PATIENT: Patience = { maxRetriesPerRequest: null };

/**
 * A connection may go silent: no FIN, no RST, and never an answer. ioredis replaces one on which an answer is due and nothing
 * has come for this long; and so that an answer is due also where nobody asks for anything, each is asked now and then.
 */
const SILENT_MS = 5000;
const PING_MS = 4000;
/** BullMQ duplicates a connection for commands that block, for 10 s at most. */
const BLOCKED_MS = 12_000;

/** `redis://`, `rediss://` (TLS), with user and password in the URL. */
export function connectRedis(url: string, patience: Patience, onError: (error: Error) => void): Redis {
  const redis = new Redis(url, {
    connectTimeout: 5000,
    keepAlive: 5000,
    socketTimeout: SILENT_MS,
    retryStrategy: (tries) => Math.min(50 * 2 ** Math.min(tries, 6), 2000),
    ...patience,
  });
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (over) => duplicate({ ...over, socketTimeout: BLOCKED_MS });
  // Without a listener ioredis prints every failed reconnection itself.
  redis.on('error', onError);
  const pinging = setInterval(() => {
    if (redis.status === 'ready') redis.ping().catch(onError);
  }, PING_MS).unref();
  redis.once('end', () => clearInterval(pinging));
  return redis;
}

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

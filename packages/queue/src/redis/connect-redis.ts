import { Redis, type RedisOptions } from 'ioredis';

type Patience = Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout'>;

/** For producers: fail at once if a command cannot be sent. */
export const FAIL_FAST: Patience = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 5000 };
/** For consumers: a command waits until Redis is back. */
export const PATIENT: Patience = { maxRetriesPerRequest: null };

/**
 * A connection may go silent: no FIN, no RST, no response. ioredis replaces a connection if a pending response does not arrive
 * within this time; periodic pings make sure that there is a pending response on idle connections too. Both together stay below
 * 15 s, the longest that a dead peer may cost.
 */
const SILENT_MS = 5000;
const PING_MS = 8000;
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
    const timer = setTimeout(
      () =>
        reject(
          new Error(`Redis did not answer within ${timeout_ms} ms${why}. Check REDIS_URL, and that Redis is running.`),
        ),
      timeout_ms,
    );
    redis.on('error', (error) => {
      why = `: ${error.message}`;
    });
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The first version with every command that BullMQ uses. */
const MIN_VERSION = 5;

/**
 * Rejects a server that is too old, or that may drop jobs when memory runs short, as any other eviction policy does. INFO,
 * because hosted Redis often refuses CONFIG.
 */
export async function requireSuitable(redis: Redis): Promise<void> {
  const info = await redis.info();
  const version = infoField(info, 'redis_version') ?? '';
  if (Number.parseInt(version, 10) < MIN_VERSION)
    throw new Error(`Redis ${version} is too old. Use Redis ${MIN_VERSION} or newer, or Valkey`);
  const policy = infoField(info, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    throw new Error(
      `Redis runs with maxmemory-policy ${policy}, which may drop queued work. Set it to noeviction: CONFIG SET maxmemory-policy noeviction`,
    );
}

export const infoField = (info: string, field: string): string | undefined =>
  new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1];

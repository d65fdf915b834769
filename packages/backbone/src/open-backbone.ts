import { createPostgresQueue, createRelay, type Queue, type Relay } from '@capstan/queue';
import { countQueued, MAX_PAYLOAD_BYTES, openStore, pingStore, postgresSignals, type Store } from '@capstan/store';
import type { Dispatcher } from './hand-over.js';
import { type LiveCatalog, openCatalog } from './live-catalog.js';
import { type LiveRules, openRules } from './live-rules.js';
import type { Log } from './log.js';
import { postgresDispatcher } from './postgres-dispatcher.js';
import { redisDispatcher } from './redis-dispatcher.js';

/** The store, the queue, the relay and the catalog, as one process uses them. */
export type Backbone = {
  store: Store;
  queue: Queue;
  relay: Relay;
  /** The one way from a commit to a worker. */
  dispatcher: Dispatcher;
  catalog: LiveCatalog;
  rules: LiveRules;
  log: Log;
  close(): Promise<void>;
};

export type BackboneOptions = {
  database_url: string;
  redis_url?: string | undefined;
  name: string;
  connections?: number;
  log: Log;
};

/** With Redis: BullMQ and pub/sub. Without: the invocations table and LISTEN/NOTIFY. Nothing else differs. */
export async function openBackbone({
  database_url,
  redis_url,
  name,
  connections,
  log,
}: BackboneOptions): Promise<Backbone> {
  const store = openStore({ url: database_url, name, ...(connections === undefined ? {} : { connections }) });
  const onError = reportOnce(log);
  // BullMQ is a third of all modules; without Redis none of them is loaded.
  const redis = redis_url ? { url: redis_url, ...(await import('@capstan/queue/redis')) } : null;
  const transport = redis ? redis.redisSignals(redis.url, onError) : postgresSignals(store, onError);
  const relay = createRelay(transport, {
    max_message_bytes: redis ? 1_000_000 : MAX_PAYLOAD_BYTES,
    onError,
    ...(redis ? { statements: postgresSignals(store, onError) } : {}),
  });
  try {
    const queue = redis
      ? await redis.createRedisQueue(redis.url, onError)
      : createPostgresQueue(
          relay,
          (runner) => countQueued(store, runner),
          () => pingStore(store),
        );
    const dispatcher = redis ? redisDispatcher({ queue, relay, log }) : postgresDispatcher(relay);
    const catalog = await openCatalog(store, relay);
    const rules = await openRules(store, relay);
    return {
      store,
      queue,
      relay,
      dispatcher,
      catalog,
      rules,
      log,
      close: async () => {
        catalog.close();
        rules.close();
        dispatcher.close();
        await dispatcher.idle();
        await queue.close();
        await relay.close();
        await store.close();
      },
    };
  } catch (error) {
    await relay.close();
    await store.close();
    throw error;
  }
}

/** A lost connection reports the same error many times a second; once in ten seconds says as much. */
function reportOnce(log: Log) {
  const last = new Map<string, number>();
  return (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const now = Date.now();
    if (now - (last.get(message) ?? 0) < 10_000) return;
    last.set(message, now);
    if (last.size > 100) last.clear();
    log.warn({ err: error }, 'the connection to the queue reported an error');
  };
}

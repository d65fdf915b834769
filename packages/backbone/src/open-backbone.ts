import { createPostgresQueue, createRelay, type Queue, type Relay } from '@capstan/queue';
import { openStore, type Store } from '@capstan/store';
import { countQueued, pingStore } from '@capstan/store/queue';
import { MAX_PAYLOAD_BYTES, PostgresSignals } from '@capstan/store/signal';
import { Denials } from './denials.js';
import { postgresDispatcher, redisDispatcher } from './dispatchers.js';
import type { Dispatcher } from './hand-over.js';
import { type LiveCatalog, openCatalog } from './live-catalog.js';
import { type LiveRules, openRules } from './live-rules.js';
import type { Log } from './log.js';

/** The store, the queue, the relay and the catalog, as one process uses them. */
export type Backbone = {
  store: Store;
  queue: Queue;
  relay: Relay;
  /** The only path from a commit to a worker. */
  dispatcher: Dispatcher;
  catalog: LiveCatalog;
  rules: LiveRules;
  denials: Denials;
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

/** With Redis: BullMQ and pub/sub. Without: the tables of the store and LISTEN/NOTIFY. Nothing else differs. */
export async function openBackbone({
  database_url,
  redis_url,
  name,
  connections,
  log,
}: BackboneOptions): Promise<Backbone> {
  const store = openStore({ url: database_url, name, ...(connections === undefined ? {} : { connections }) });
  // Until it is open, whoever opens it gets the error.
  let is_open = false;
  const report = reportOnce(log);
  const onError = (error: unknown): void => {
    if (is_open) report(error);
  };
  // BullMQ is a third of all modules, so it is loaded only with Redis.
  const redis = redis_url ? { url: redis_url, ...(await import('@capstan/queue/redis')) } : null;
  const transport = redis ? redis.redisSignals(redis.url, onError) : new PostgresSignals(store, onError);
  const relay = createRelay(transport, {
    max_message_bytes: redis ? 1_000_000 : MAX_PAYLOAD_BYTES,
    onError,
    ...(redis ? { statements: new PostgresSignals(store, onError) } : {}),
  });
  let queue: Queue | undefined;
  try {
    queue = redis
      ? await redis.createRedisQueue(redis.url, onError)
      : createPostgresQueue(
          relay,
          (runner) => countQueued(store, runner),
          () => pingStore(store),
        );
    const backbone = await assemble({
      store,
      queue,
      relay,
      log,
      dispatcher: redis ? redisDispatcher({ queue, relay, log }) : postgresDispatcher(relay),
    });
    is_open = true;
    return backbone;
  } catch (error) {
    await queue?.close();
    await relay.close();
    await store.close();
    throw error;
  }
}

async function assemble(parts: Omit<Backbone, 'catalog' | 'rules' | 'denials' | 'close'>): Promise<Backbone> {
  const { store, queue, relay, dispatcher } = parts;
  const catalog = await openCatalog(store, relay);
  const rules = await openRules(store, relay);
  return {
    ...parts,
    catalog,
    rules,
    denials: new Denials(),
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
}

/** A lost connection reports the same error many times a second, so each error is logged once in ten seconds. */
function reportOnce(log: Log) {
  const last = new Map<string, number>();
  return (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const now = Date.now();
    if (now - (last.get(message) ?? 0) < 10_000) return;
    last.set(message, now);
    if (last.size > 100) last.clear();
    log.warn({ err: error }, 'queue connection error');
  };
}

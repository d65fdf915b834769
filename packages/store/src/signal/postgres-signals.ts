import pg from 'pg';
import type { Statement, Store } from '../open-store.js';
import { CHANNEL } from './channel.js';

/** Postgres refuses a NOTIFY payload of 8,000 bytes or more. */
export const MAX_PAYLOAD_BYTES = 7900;

const NOTIFY: Statement = {
  name: 'notify',
  text: `SELECT pg_notify('${CHANNEL}', message) FROM unnest($1::text[]) AS message`,
};

export type PostgresSignals = {
  rides_on_statements: true;
  publish(messages: string[]): Promise<void>;
  subscribe(listener: (message: string) => void): void;
  close(): Promise<void>;
};

/**
 * LISTEN/NOTIFY on a connection of its own. It reconnects by itself; what was sent meanwhile is lost, which every
 * listener must bear: signals only save waiting, sweeps find what they missed.
 */
export function postgresSignals(store: Store, onError: (error: unknown) => void): PostgresSignals {
  const listeners: ((message: string) => void)[] = [];
  let client: pg.Client | null = null;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  const connect = async () => {
    const next = new pg.Client({ connectionString: store.url, application_name: 'capstan-signals', keepAlive: true });
    next.on('notification', ({ payload }) => {
      if (payload !== undefined) for (const listener of listeners) listener(payload);
    });
    next.on('error', () => {});
    next.on('end', () => reconnect(next));
    try {
      await next.connect();
      await next.query(`LISTEN ${CHANNEL}`);
      client = next;
      if (closed) await next.end();
    } catch (error) {
      onError(error);
      await next.end().catch(() => {});
      reconnect(next);
    }
  };
  const reconnect = (ended: pg.Client) => {
    if (closed || retry || (client !== null && client !== ended)) return;
    client = null;
    retry = setTimeout(() => {
      retry = undefined;
      void connect();
    }, 250);
  };

  let connected: Promise<void> | undefined;
  return {
    rides_on_statements: true,
    publish: async (messages) => {
      await store.query(NOTIFY, [messages]);
    },
    subscribe: (listener) => {
      listeners.push(listener);
      connected ??= connect();
    },
    close: async () => {
      closed = true;
      clearTimeout(retry);
      await connected;
      await client?.end().catch(() => {});
    },
  };
}

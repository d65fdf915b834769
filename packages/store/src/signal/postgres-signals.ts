import pg from 'pg';
import type { Statement, Store } from '../open-store.js';
import { channelOf, notify } from './channel.js';

/** Postgres refuses a NOTIFY payload of 8,000 bytes or more. */
export const MAX_PAYLOAD_BYTES = 7900;

const NOTIFY: Statement = {
  name: 'notify',
  text: `SELECT ${notify('message')} FROM unnest($1::text[]) AS message`,
};

export type PostgresSignals = {
  rides_on_statements: true;
  publish(messages: string[]): Promise<void>;
  subscribe(topic: string, listener: (message: string) => void, onListening: () => void): void;
  close(): Promise<void>;
};

/**
 * LISTEN/NOTIFY on a connection of its own. It reconnects by itself; what was sent meanwhile is lost, which every
 * listener must bear: signals only save waiting, sweeps find what they missed.
 */
export function postgresSignals(store: Store, onError: (error: unknown) => void): PostgresSignals {
  const listeners = new Map<string, { hear(message: string): void; onListening(): void }>();
  let client: pg.Client | null = null;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let listening: Promise<void> = Promise.resolve();

  const connect = async () => {
    const next = new pg.Client({ connectionString: store.url, application_name: 'capstan-signals', keepAlive: true });
    next.on('notification', ({ channel, payload = '' }) => listeners.get(channel)?.hear(payload));
    next.on('error', () => {});
    next.on('end', () => reconnect(next));
    try {
      await next.connect();
      client = next;
      await listen([...listeners.keys()]);
      if (closed) await next.end();
    } catch (error) {
      onError(error);
      await next.end().catch(() => {});
      reconnect(next);
    }
  };
  /** One statement after the other, as a connection wants them. */
  const listen = (channels: string[]) => {
    listening = listening
      .catch(() => {})
      .then(async () => {
        if (!client) return;
        await client.query(channels.map((channel) => `LISTEN ${channel}`).join(';'));
        for (const channel of channels) listeners.get(channel)?.onListening();
      });
    return listening;
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
    subscribe: (topic, hear, onListening) => {
      const channel = channelOf(topic);
      listeners.set(channel, { hear, onListening });
      // Those that come before the connection are listened to as it opens.
      listen([channel]).catch(onError);
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

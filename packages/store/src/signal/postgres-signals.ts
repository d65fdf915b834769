import { nanoid } from 'nanoid';
import pg from 'pg';
import { CLIENT_KEEPALIVE, SERVER_KEEPALIVE, toOptions } from '../connection/connection-settings.js';
import type { Statement, Store } from '../open-store.js';
import { channelOf, notify } from './channel.js';

/** Postgres refuses a NOTIFY payload of 8,000 bytes or more. */
export const MAX_PAYLOAD_BYTES = 7900;

const NOTIFY: Statement = {
  name: 'notify',
  text: `SELECT ${notify('message')} FROM unnest($1::text[]) AS message`,
};

/** How often a listener tells itself something, and how soon it has to hear it. */
const PULSE_MS = 7000;
const HEARD_WITHIN_MS = 5000;
const CONNECT_MS = 5000;
const RECONNECT_MS = 250;

export type PostgresSignals = {
  rides_on_statements: true;
  publish(messages: string[]): Promise<void>;
  subscribe(topic: string, listener: (message: string) => void, onListening: () => void): void;
  close(): Promise<void>;
};

/**
 * LISTEN/NOTIFY on a connection of its own. It reconnects by itself, also when the connection has gone silent: now and then it
 * sends itself a signal, and has to hear it. What was sent meanwhile is lost, which every listener must bear: signals only
 * save waiting, sweeps find what they missed.
 */
export function postgresSignals(store: Store, onError: (error: unknown) => void): PostgresSignals {
  const listeners = new Map<string, { hear(message: string): void; onListening(): void }>();
  const own = `capstan_pulse_${nanoid().replaceAll('-', '_')}`;
  let client: pg.Client | null = null;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let pulse: NodeJS.Timeout | undefined;
  let unheard: NodeJS.Timeout | undefined;
  let listening: Promise<void> = Promise.resolve();

  const connect = async () => {
    const next = new pg.Client({
      connectionString: store.url,
      application_name: 'capstan-signals',
      connectionTimeoutMillis: CONNECT_MS,
      options: toOptions(SERVER_KEEPALIVE),
      ...CLIENT_KEEPALIVE,
    });
    next.on('notification', ({ channel, payload = '' }) => {
      if (channel === own) clearTimeout(unheard);
      else listeners.get(channel)?.hear(payload);
    });
    next.on('error', () => {});
    next.on('end', () => reconnect(next));
    try {
      await next.connect();
      client = next;
      await listen([own, ...listeners.keys()]);
      if (closed) await end(next);
      else pulse = setInterval(beat, PULSE_MS, next).unref();
    } catch (error) {
      onError(error);
      await end(next);
      reconnect(next);
    }
  };
  const listen = (channels: string[]) => ask(channels.map((channel) => `LISTEN "${channel}"`).join(';'), channels);
  /** One statement after the other, as a connection wants them. One that is not answered in time ends the connection. */
  const ask = (text: string, channels: string[] = []) => {
    listening = listening
      .catch(() => {})
      .then(async () => {
        if (!client) return;
        const asked = client;
        const late = setTimeout(cut, HEARD_WITHIN_MS, asked);
        await asked.query(text).finally(() => clearTimeout(late));
        for (const channel of channels) listeners.get(channel)?.onListening();
      });
    return listening;
  };
  const beat = (to: pg.Client) => {
    clearTimeout(unheard);
    unheard = setTimeout(cut, HEARD_WITHIN_MS, to).unref();
    ask(`NOTIFY "${own}"`).catch(onError);
  };
  const reconnect = (ended: pg.Client) => {
    if (closed || retry || (client !== null && client !== ended)) return;
    client = null;
    clearInterval(pulse);
    clearTimeout(unheard);
    retry = setTimeout(() => {
      retry = undefined;
      void connect();
    }, RECONNECT_MS);
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
      clearInterval(pulse);
      clearTimeout(unheard);
      await connected;
      if (client) await end(client);
    },
  };
}

const cut = ({ connection }: pg.Client): void => {
  connection.stream.destroy(new Error('Connection terminated: the listener heard nothing'));
};

/** Politely, but without waiting for one that does not answer. */
async function end(client: pg.Client): Promise<void> {
  const late = setTimeout(() => client.connection.stream.destroy(), 1000);
  await client.end().catch(() => {});
  clearTimeout(late);
}

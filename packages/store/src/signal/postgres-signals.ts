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

/** How often a listener sends itself a signal, and how soon it must receive it. */
const PULSE_MS = 7000;
const HEARD_WITHIN_MS = 5000;
const CONNECT_MS = 5000;
const RECONNECT_MS = 250;

type Listener = { hear(message: string): void; onListening(): void };

/**
 * LISTEN/NOTIFY on a dedicated connection. It reconnects by itself, also if the connection has gone silent: every PULSE_MS it
 * sends itself a signal, which must arrive. Signals sent during an interruption are lost, and every listener must tolerate
 * that: signals only reduce latency, and sweeps find what was missed.
 */
export class PostgresSignals {
  readonly rides_on_statements = true;
  readonly #store: Store;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Map<string, Listener>();
  readonly #own_channel = `capstan_pulse_${nanoid().replaceAll('-', '_')}`;
  #client: pg.Client | null = null;
  #connected: Promise<void> | undefined;
  #closed = false;
  /** The last statement sent; a connection takes one at a time. */
  #last: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #pulse: NodeJS.Timeout | undefined;
  #unheard: NodeJS.Timeout | undefined;

  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  async publish(messages: string[]): Promise<void> {
    await this.#store.query(NOTIFY, [messages]);
  }

  subscribe(topic: string, hear: (message: string) => void, onListening: () => void): void {
    const channel = channelOf(topic);
    this.#listeners.set(channel, { hear, onListening });
    // Does nothing without a connection: a new connection listens to all channels.
    this.#listen([channel]).catch(this.#onError);
    this.#connected ??= this.#connect();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#stopPulse();
    await this.#connected;
    if (this.#client) await end(this.#client);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#store.url,
      application_name: 'capstan-signals',
      connectionTimeoutMillis: CONNECT_MS,
      options: toOptions(SERVER_KEEPALIVE),
      ...CLIENT_KEEPALIVE,
    });
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === this.#own_channel) clearTimeout(this.#unheard);
      else this.#listeners.get(channel)?.hear(payload);
    });
    client.on('error', () => {});
    client.on('end', () => this.#reconnect(client));
    try {
      await client.connect();
      this.#client = client;
      await this.#listen([this.#own_channel, ...this.#listeners.keys()]);
      if (this.#closed) await end(client);
      else this.#pulse = setInterval(() => this.#beat(client), PULSE_MS).unref();
    } catch (error) {
      this.#onError(error);
      await end(client);
      this.#reconnect(client);
    }
  }

  #reconnect(ended: pg.Client): void {
    if (this.#closed || this.#retry || (this.#client !== null && this.#client !== ended)) return;
    this.#client = null;
    this.#stopPulse();
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      void this.#connect();
    }, RECONNECT_MS);
  }

  #listen(channels: string[]): Promise<void> {
    return this.#ask(channels.map((channel) => `LISTEN "${channel}"`).join(';'), channels);
  }

  #beat(client: pg.Client): void {
    clearTimeout(this.#unheard);
    this.#unheard = setTimeout(cut, HEARD_WITHIN_MS, client).unref();
    this.#ask(`NOTIFY "${this.#own_channel}"`).catch(this.#onError);
  }

  #stopPulse(): void {
    clearInterval(this.#pulse);
    clearTimeout(this.#unheard);
  }

  /** Sends statements one after the other. A statement without a timely response closes the connection. */
  #ask(text: string, channels: string[] = []): Promise<void> {
    this.#last = this.#last
      .catch(() => {})
      .then(async () => {
        if (!this.#client) return;
        const late = setTimeout(cut, HEARD_WITHIN_MS, this.#client);
        await this.#client.query(text).finally(() => clearTimeout(late));
        for (const channel of channels) this.#listeners.get(channel)?.onListening();
      });
    return this.#last;
  }
}

function cut({ connection }: pg.Client): void {
  connection.stream.destroy(new Error('Connection terminated: the listener heard nothing'));
}

/** Ends the connection in an orderly way; after 1 s without a response, it is cut. */
async function end(client: pg.Client): Promise<void> {
  const late = setTimeout(() => client.connection.stream.destroy(), 1000);
  await client.end().catch(() => {});
  clearTimeout(late);
}

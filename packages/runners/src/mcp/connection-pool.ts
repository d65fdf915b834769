import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@capstan/contracts';
import { orAborted } from '../or-aborted.js';
import type { Connection, Listener } from './connection.js';
import type { ResolvedServer } from './resolve-server.js';

/** A connection while a call uses it. */
export type Lease = {
  connection: Connection;
  /** The connection is unusable: the next call opens another. */
  drop(): void;
  /** The server may hang: new calls wait for this answer, and get another connection if it does not come. */
  doubt(answer: Promise<unknown>): void;
  release(): void;
};

export type Open = (server: ResolvedServer, all: Listener, onEnd: () => void) => Promise<Connection>;

export type PoolOptions = { open: Open; idle_ms: number; max_connections: number };

type Entry = {
  key: string;
  server: ResolvedServer;
  opened: Promise<Connection>;
  started: number;
  ended: boolean;
  users: number;
  unwanted: boolean;
  idle_since: number;
  listeners: Set<Listener>;
  doubt?: Promise<unknown> | undefined;
  timer?: NodeJS.Timeout | undefined;
};

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 5000;
/** A server that ran this long started properly, so the next start needs no backoff. */
const WELL_MS = 1000;

/**
 * One connection for each server, tenant, set of secrets and set of egress rules, shared by all running calls. Tenants do not share
 * one, because servers keep state that another tenant must not see. The first call opens it. It is reopened after it ended, with a
 * growing backoff while it ends at once, and closed when idle.
 */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #failures = new Map<string, { count: number; next_try: number }>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** `listener` receives what the server does from its start until the release. */
  async acquire(server: ResolvedServer, listener: Listener, signal: AbortSignal): Promise<Lease> {
    const { key } = server;
    const doubted = this.#entries.get(key)?.doubt;
    if (doubted) await orAborted(doubted, signal);
    const wait = (this.#failures.get(key)?.next_try ?? 0) - performance.now();
    if (wait > 0 && !this.#entries.has(key)) await delay(wait, undefined, { signal });
    if (!this.#entries.has(key)) this.#makeRoom();
    const entry = this.#entries.get(key) ?? this.#start(server);
    clearTimeout(entry.timer);
    entry.users += 1;
    entry.listeners.add(listener);
    const release = () => this.#release(entry, listener);
    try {
      // Other calls may be waiting for the same connection, so it keeps opening if one of them gives up.
      const connection = await orAborted(entry.opened, signal);
      this.#failures.delete(key);
      const drop = () => void this.#shut(entry);
      return { connection, drop, doubt: (answer) => this.#doubt(entry, answer), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Closes connections to servers that are no longer wanted: idle ones now, the others after their last call. */
  async closeUnwanted(isWanted: (server: ResolvedServer) => Promise<boolean>): Promise<void> {
    const look = async (entry: Entry) => {
      // If the check fails, the connection is closed; the next call opens it again.
      entry.unwanted = !(await isWanted(entry.server).catch(() => false));
      if (entry.unwanted && entry.users === 0) await this.#shut(entry);
    };
    await Promise.all([...this.#entries.values()].map(look));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map((entry) => this.#shut(entry)));
  }

  #start(server: ResolvedServer): Entry {
    const { key } = server;
    const started = performance.now();
    const listeners = new Set<Listener>();
    const opened = this.#options.open(server, toAll(listeners), () => this.#ended(entry));
    const entry: Entry = {
      ...{ key, server, opened, started, ended: false, users: 0, unwanted: false, idle_since: started, listeners },
    };
    opened.catch(() => {
      if (!entry.ended) this.#failed(key);
      entry.ended = true;
      this.#remove(entry);
    });
    this.#entries.set(key, entry);
    return entry;
  }

  #ended(entry: Entry): void {
    entry.ended = true;
    clearTimeout(entry.timer);
    this.#remove(entry);
    if (performance.now() - entry.started < WELL_MS) this.#failed(entry.key);
  }

  #failed(key: string): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const backoff_ms = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (count - 1));
    this.#failures.set(key, { count, next_try: performance.now() + backoff_ms });
  }

  /** Closes the connection that has been idle the longest. */
  #makeRoom(): void {
    const { max_connections } = this.#options;
    if (this.#entries.size < max_connections) return;
    const idle = [...this.#entries.values()]
      .filter(({ users }) => users === 0)
      .sort((a, b) => a.idle_since - b.idle_since)[0];
    if (!idle)
      throw new Failure('RUNNER_FAILED', {
        detail: `this worker has ${max_connections} MCP connections in use already`,
      });
    void this.#shut(idle);
  }

  #release(entry: Entry, listener: Listener): void {
    entry.listeners.delete(listener);
    entry.users -= 1;
    if (entry.users > 0 || entry.ended) return;
    if (entry.unwanted) return void this.#shut(entry);
    entry.idle_since = performance.now();
    entry.timer = setTimeout(() => void this.#shut(entry), this.#options.idle_ms);
    entry.timer.unref();
  }

  #doubt(entry: Entry, answer: Promise<unknown>): void {
    const mine = answer
      .catch(() => this.#shut(entry))
      .then(() => {
        if (entry.doubt === mine) entry.doubt = undefined;
      });
    entry.doubt = mine;
  }

  #shut(entry: Entry): Promise<void> {
    clearTimeout(entry.timer);
    this.#remove(entry);
    return entry.opened.then((connection) => connection.close()).catch(() => {});
  }

  /** Another connection may have taken its place already. */
  #remove(entry: Entry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }
}

/** Passes on what a server does to the calls that use it. */
const toAll = (listeners: ReadonlySet<Listener>): Listener => ({
  text: (stream, text) => {
    for (const listener of listeners) listener.text(stream, text);
  },
  domain: (hostname) => {
    for (const listener of listeners) listener.domain(hostname);
  },
  // The older protocol does not say which call a question belongs to. If several are running, nobody can be asked.
  ask: async (request, signal) => {
    const [only, ...others] = listeners;
    return only && others.length === 0 ? only.ask(request, signal) : null;
  },
});

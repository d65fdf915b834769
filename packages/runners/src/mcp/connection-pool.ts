import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@capstan/contracts';
import { orAborted } from '../or-aborted.js';
import type { Connection, Listener } from './connection.js';
import type { ResolvedServer } from './resolve-server.js';

/** A connection while somebody uses it. */
export type Lease = {
  connection: Connection;
  /** It proved useless: the next call opens another. */
  drop(): void;
  /** It may hang: new calls wait until it has answered, and get another when it does not. */
  doubt(answer: Promise<unknown>): void;
  release(): void;
};

export type Open = (server: ResolvedServer, all: Listener, onEnd: () => void) => Promise<Connection>;

export type PoolOptions = { open: Open; idle_ms: number; max_connections: number };

export type ConnectionPool = {
  /** `listener` hears the server from its start until the release. */
  acquire(server: ResolvedServer, listener: Listener, signal: AbortSignal): Promise<Lease>;
  /** Ends the connections to servers that are no longer wanted: idle ones now, the others when their last call is done. */
  closeUnwanted(isWanted: (server: ResolvedServer) => Promise<boolean>): Promise<void>;
  close(): Promise<void>;
};

type Entry = {
  server: ResolvedServer;
  opened: Promise<Connection>;
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
/** A server that lasted this long was well; what ended it is no reason to wait before the next start. */
const WELL_MS = 1000;

/**
 * One connection per server, tenant, set of secrets and way out, shared by all calls that run at the moment: servers keep
 * state, and what one tenant left there is not another's to see. Opened by the first call, opened again after it ended (with growing
 * pauses while it fails at once), closed when idle.
 */
export function createConnectionPool({ open, idle_ms, max_connections }: PoolOptions): ConnectionPool {
  const entries = new Map<string, Entry>();
  const failures = new Map<string, { count: number; next_try: number }>();

  const start = (server: ResolvedServer): Entry => {
    const { key } = server;
    const started = performance.now();
    const listeners = new Set<Listener>();
    const onEnd = () => {
      entry.ended = true;
      clearTimeout(entry.timer);
      if (entries.get(key) === entry) entries.delete(key);
      if (performance.now() - started < WELL_MS) failed(key);
    };
    const all: Listener = {
      text: (stream, text) => {
        for (const listener of listeners) listener.text(stream, text);
      },
      domain: (hostname) => {
        for (const listener of listeners) listener.domain(hostname);
      },
      // The older protocol does not say which call a question belongs to: with several under way it cannot be put to anybody.
      ask: async (request) => {
        const [only, ...others] = listeners;
        return only && others.length === 0 ? only.ask(request) : null;
      },
    };
    const opened = open(server, all, onEnd);
    const entry: Entry = { server, opened, ended: false, users: 0, unwanted: false, idle_since: started, listeners };
    opened.catch(() => {
      if (!entry.ended) failed(key);
      entry.ended = true;
      if (entries.get(key) === entry) entries.delete(key);
    });
    entries.set(key, entry);
    return entry;
  };

  const failed = (key: string) => {
    const count = (failures.get(key)?.count ?? 0) + 1;
    failures.set(key, {
      count,
      next_try: performance.now() + Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (count - 1)),
    });
  };

  /** The longest idle one gives way. */
  const makeRoom = () => {
    if (entries.size < max_connections) return;
    const idle = [...entries]
      .filter(([, { users }]) => users === 0)
      .sort(([, a], [, b]) => a.idle_since - b.idle_since)[0];
    if (!idle)
      throw new Failure('RUNNER_FAILED', {
        detail: `this worker has ${max_connections} MCP connections in use already`,
      });
    void shut(...idle);
  };

  const shut = (key: string, entry: Entry): Promise<void> => {
    clearTimeout(entry.timer);
    if (entries.get(key) === entry) entries.delete(key);
    return entry.opened.then((connection) => connection.close()).catch(() => {});
  };

  const doubt = (key: string, entry: Entry) => (answer: Promise<unknown>) => {
    const mine = answer
      .catch(() => shut(key, entry))
      .then(() => {
        if (entry.doubt === mine) entry.doubt = undefined;
      });
    entry.doubt = mine;
  };

  const release = (key: string, entry: Entry, listener: Listener) => () => {
    entry.listeners.delete(listener);
    entry.users -= 1;
    if (entry.users > 0 || entry.ended) return;
    if (entry.unwanted) return void shut(key, entry);
    entry.idle_since = performance.now();
    entry.timer = setTimeout(() => void shut(key, entry), idle_ms);
    entry.timer.unref();
  };

  return {
    acquire: async (server, listener, signal) => {
      const doubted = entries.get(server.key)?.doubt;
      if (doubted) await orAborted(doubted, signal);
      const wait = (failures.get(server.key)?.next_try ?? 0) - performance.now();
      if (wait > 0 && !entries.has(server.key)) await delay(wait, undefined, { signal });
      if (!entries.has(server.key)) makeRoom();
      const entry = entries.get(server.key) ?? start(server);
      clearTimeout(entry.timer);
      entry.users += 1;
      entry.listeners.add(listener);
      const give = release(server.key, entry, listener);
      try {
        // Others may be waiting for it, so it goes on opening when one of them gives up.
        const connection = await orAborted(entry.opened, signal);
        failures.delete(server.key);
        const drop = () => void shut(server.key, entry);
        return { connection, drop, doubt: doubt(server.key, entry), release: give };
      } catch (error) {
        give();
        throw error;
      }
    },
    closeUnwanted: async (isWanted) => {
      const look = async ([key, entry]: [string, Entry]) => {
        // Whether it is still wanted may be impossible to find out; it then opens again for the next call.
        entry.unwanted = !(await isWanted(entry.server).catch(() => false));
        if (entry.unwanted && entry.users === 0) await shut(key, entry);
      };
      await Promise.all([...entries].map(look));
    },
    close: async () => {
      await Promise.all([...entries].map(([key, entry]) => shut(key, entry)));
    },
  };
}

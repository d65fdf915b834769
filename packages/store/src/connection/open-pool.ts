import pg from 'pg';
import { CLIENT_KEEPALIVE } from './connection-settings.js';
import { findWorkingBackends } from './find-working-backends.js';
import { closeSilent, watchSilence } from './watch-silence.js';

export type PoolOptions = Pick<pg.PoolConfig, 'application_name' | 'max' | 'types' | 'options'> & {
  url: string;
  /** The statement timeout that Postgres enforces. */
  statement_ms: number;
};

/** Time for Postgres to report that it has canceled a statement. */
const MARGIN_MS = 5000;

/** Replaces connections that break or go silent. Their current statement fails with an error that allows a retry. */
export function openPool({ url, statement_ms, ...config }: PoolOptions): pg.Pool {
  const idle = new Set<pg.Client>();
  const watch = {
    max_ms: statement_ms + MARGIN_MS,
    isWorking: async (pid: number) => (await findWorkingBackends(url, [pid])).has(pid),
    // The cause has most likely broken the idle connections too. Each would cost a caller the same wait.
    onDead: () => idle.forEach(closeSilent),
  };
  class Client extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      watchSilence(this, watch);
      closeWhenReadOnly(this);
    }
  }
  const pool = new pg.Pool({
    ...config,
    ...CLIENT_KEEPALIVE,
    Client,
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    // Long, because a new connection has to plan all prepared statements again.
    idleTimeoutMillis: 300_000,
  });
  // The pool drops an idle connection that breaks (Postgres restarted), and the next query opens another.
  pool.on('error', () => {});
  // A connection that breaks in use fails its query and then emits `error`, which would end the process without a listener.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('release', (_error, client) => client instanceof Client && idle.add(client));
  for (const event of ['acquire', 'remove'] as const)
    pool.on(event, (client) => client instanceof Client && idle.delete(client));
  return pool;
}

/** A read-only Postgres may have been replaced in a failover. A new connection reaches the current primary. */
function closeWhenReadOnly({ connection }: pg.Client): void {
  connection.on('errorMessage', ({ code }: { code?: string }) => {
    if (code === '25006')
      connection.once('readyForQuery', () =>
        connection.stream.destroy(new Error('Connection terminated: it is read-only')),
      );
  });
}

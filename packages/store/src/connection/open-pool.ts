import pg from 'pg';
import { CLIENT_KEEPALIVE } from './connection-settings.js';
import { findWorkingBackends } from './find-working-backends.js';
import { closeSilent, watchSilence } from './watch-silence.js';

export type PoolOptions = Pick<pg.PoolConfig, 'application_name' | 'max' | 'types' | 'options'> & {
  url: string;
  /** Postgres itself ends a statement that takes as long. */
  statement_ms: number;
};

/** A Postgres that answers may take a moment longer to say that it has ended a statement. */
const MARGIN_MS = 5000;

/** Connections that are replaced when they break or go silent; what they were used for at that moment fails, and can be tried again. */
export function openPool({ url, statement_ms, ...config }: PoolOptions): pg.Pool {
  const idle = new Set<pg.Client>();
  const watch = {
    max_ms: statement_ms + MARGIN_MS,
    isWorking: async (pid: number) => (await findWorkingBackends(url, [pid])).has(pid),
    // What broke one connection has most likely broken the others, and each would cost somebody the same wait.
    onDead: () => idle.forEach(closeSilent),
  };
  class Client extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      watchSilence(this, watch);
      leaveReadOnly(this);
    }
  }
  const pool = new pg.Pool({
    ...config,
    ...CLIENT_KEEPALIVE,
    Client,
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    // Who comes after a while does not wait for a connection to be made, and its statements to be planned again.
    idleTimeoutMillis: 300_000,
  });
  // An idle connection that breaks (Postgres restarted) is dropped by the pool; the next query opens another.
  pool.on('error', () => {});
  // A connection that breaks in use reports it twice, to its query and then to nobody, which would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('release', (_error, client) => client instanceof Client && idle.add(client));
  for (const event of ['acquire', 'remove'] as const)
    pool.on(event, (client) => client instanceof Client && idle.delete(client));
  return pool;
}

/** A Postgres that takes no writes may have been replaced: new connections reach the one that does. */
function leaveReadOnly({ connection }: pg.Client): void {
  connection.on('errorMessage', ({ code }: { code?: string }) => {
    if (code === '25006')
      connection.once('readyForQuery', () =>
        connection.stream.destroy(new Error('Connection terminated: it is read-only')),
      );
  });
}

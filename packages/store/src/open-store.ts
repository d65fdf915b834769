import { Failure } from '@capstan/contracts';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { SERVER_KEEPALIVE, toOptions } from './connection/connection-settings.js';
import { openPool } from './connection/open-pool.js';
import type { Tables } from './tables.js';

export type Db = Kysely<Tables>;

/**
 * Cold paths use Kysely. The few statements on the path of every invocation are fixed texts, prepared once per connection
 * and run through `query`: building and compiling them each time cost more than executing them.
 */
export type Store = {
  db: Db;
  query: Query;
  /** Runs such statements in one transaction. `query` is valid until `work` ends. */
  transact<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** Current use of the connection pool. */
  pool(): { busy: number; idle: number; waiting: number; max: number };
  url: string;
  close(): Promise<void>;
};

export type Statement = { name: string; text: string };
export type Query = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** Runs a fixed statement within a Kysely transaction. */
export const queryIn =
  (db: Db): Query =>
  async <Row extends object>({ text }: Statement, values: unknown[]) => {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, values));
    return rows;
  };

/** All statements in `read` see the same snapshot. */
export const asOfOneMoment = <T>({ db }: Pick<Store, 'db'>, read: (db: Db) => Promise<T>): Promise<T> =>
  db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);

export type StoreOptions = { url: string; name: string; connections?: number };

const TIMESTAMPTZ = 1184;
const types = new pg.TypeOverrides();
/** `2026-01-02 03:04:05.678+00` → `2026-01-02T03:04:05.678Z`. Sessions run in UTC, so no Date is needed. */
export const toRfc3339 = (text: string): string => `${text.slice(0, 10)}T${text.slice(11).replace(/\+00$/, 'Z')}`;
types.setTypeParser(TIMESTAMPTZ, toRfc3339);

/** Postgres cancels a statement that takes longer. */
const STATEMENT_MS = 60_000;

/**
 * Plans of prepared statements are made while tables are small and have no statistics, and are then kept. A plan that scans
 * a small table later scans a large one (measured: 30,000 rows drained at 50 a second until the first ANALYZE), and a plan
 * that sorts its matches sorts a whole large run to return its first page. So these settings force index scans from the
 * start, and statements over a batch list its ids (`= ANY (ids)`), which only an index can answer.
 *
 * The idle timeout limits how long a process that is frozen or cut off within a transaction keeps its locks.
 */
const OPTIONS = toOptions({
  timezone: 'UTC',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  statement_timeout: String(STATEMENT_MS),
  idle_in_transaction_session_timeout: '10000',
  ...SERVER_KEEPALIVE,
});

export function openStore({ url, name, connections = 10 }: StoreOptions): Store {
  const pool = openPool({
    url,
    application_name: name,
    max: connections,
    types,
    options: OPTIONS,
    statement_ms: STATEMENT_MS,
  });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    url,
    query: async <Row extends object>(statement: Statement, values: unknown[]) => {
      const { rows } = await pool.query<Row>({ ...statement, values });
      return rows;
    },
    transact: (work) => transactOn(pool, work),
    pool: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: connections,
    }),
    close: async () => {
      await db.destroy();
      // Kysely does not end a pool that it has never used.
      if (!pool.ended) await pool.end();
    },
  };
}

async function transactOn<T>(pool: pg.Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  // A connection takes one statement at a time: concurrent statements wait for each other, and the COMMIT for all of them.
  let last: Promise<unknown> = Promise.resolve();
  const query: Query = <Row extends object>(statement: Statement, values: unknown[]) => {
    const answered = last.then(() => client.query<Row>({ ...statement, values }));
    last = answered.catch(() => undefined);
    return answered.then(({ rows }) => rows);
  };
  try {
    await client.query('BEGIN');
    const done = await work(query);
    await last;
    await client.query('COMMIT');
    return done;
  } catch (error) {
    await last;
    // If the rollback fails, the state of the connection is unknown, so the pool must not reuse it.
    await client.query('ROLLBACK').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Errors that a retry may overcome: classes 08 (connection), 53 (resources) and 57 (operator intervention), a transaction that
 * was idle for too long (25P03), a read-only Postgres (25006, during a failover), and errors of the socket.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return (
    /^(08|53|57|25P03|25006)/.test(code) ||
    /^E(CONN|PIPE|TIMEDOUT|AI_AGAIN|HOSTUNREACH|NETUNREACH)/.test(code) ||
    /Connection terminated|timeout exceeded when trying to connect|not queryable/.test(error.message)
  );
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Causes that an operator can fix. */
const SHORT_OF: Readonly<Record<string, string>> = {
  '25006': 'Postgres takes no writes at the moment.',
  '53100': 'Postgres has no space left on its disk.',
  '53200': 'Postgres has no memory left.',
  '53300': 'Postgres has no connections left.',
};

/** The request contained a value that Postgres cannot represent, such as a NUL in a text or a date out of range. */
export const isUnstorable = (error: unknown): error is Error =>
  error instanceof pg.DatabaseError && ['22003', '22007', '22008', '22021', '22P05'].includes(error.code ?? '');

export function storageFailure(error: unknown): Failure {
  if (isUnavailable(error))
    return new Failure('STORAGE_UNAVAILABLE', {
      detail: SHORT_OF[codeOf(error)] ?? 'Postgres cannot be reached.',
      cause: error,
    });
  if (isUnstorable(error))
    return new Failure('INVALID_REQUEST', { detail: `A value cannot be stored: ${error.message}.`, cause: error });
  return new Failure('INTERNAL', { detail: 'Postgres refused a statement.', cause: error });
}

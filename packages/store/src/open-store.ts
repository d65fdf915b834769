import { Failure } from '@capstan/contracts';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { SERVER_KEEPALIVE, toOptions } from './connection/connection-settings.js';
import { openPool } from './connection/open-pool.js';
import type { Tables } from './tables.js';

export type Db = Kysely<Tables>;

/**
 * Cold paths are written with Kysely. The few statements that every invocation passes through are fixed texts, prepared
 * once per connection and run through `query`: building and compiling them anew cost more than executing them.
 */
export type Store = {
  db: Db;
  query: Query;
  /** Such statements as one transaction; `query` is good until `work` has ended. */
  transact<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** How its connections are used at the moment. */
  pool(): { busy: number; idle: number; waiting: number; max: number };
  url: string;
  close(): Promise<void>;
};

export type Statement = { name: string; text: string };
export type Query = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** Runs such a statement as part of a transaction. */
export const queryIn =
  (db: Db): Query =>
  async <Row extends object>({ text }: Statement, values: unknown[]) => {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, values));
    return rows;
  };

/** What is read in `read` is as of one moment, however many statements it takes. */
export const asOfOneMoment = <T>({ db }: Pick<Store, 'db'>, read: (db: Db) => Promise<T>): Promise<T> =>
  db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);

export type StoreOptions = { url: string; name: string; connections?: number };

const TIMESTAMPTZ = 1184;
const types = new pg.TypeOverrides();
/** `2026-01-02 03:04:05.678+00` → `2026-01-02T03:04:05.678Z`; sessions run in UTC, so no Date needs to be made. */
export const toRfc3339 = (text: string): string => `${text.slice(0, 10)}T${text.slice(11).replace(/\+00$/, 'Z')}`;
types.setTypeParser(TIMESTAMPTZ, toRfc3339);

/** Postgres itself ends a statement that takes longer. */
const STATEMENT_MS = 60_000;

/**
 * Prepared plans are made when tables are small, without statistics, and kept. A plan that scans a small table scans a
 * large one later (measured: 30,000 rows drained at 50 a second until the first ANALYZE), and one that sorts what it found
 * sorts all of a large run for its first page. So plans are told to walk the indexes from the start, and statements over
 * a batch name its ids (`= ANY (ids)`), which only an index can answer.
 *
 * A process that is frozen or cut off within a transaction keeps its locks for ten seconds and no longer.
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
    transact: async (work) => {
      const client = await pool.connect();
      let broken = false;
      // A connection takes one statement at a time: what is asked for meanwhile waits here, and the end waits for it.
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
        // What a connection was left in by an error cannot be known if it cannot be taken back.
        await client.query('ROLLBACK').catch(() => {
          broken = true;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
    pool: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: connections,
    }),
    close: async () => {
      await db.destroy();
      // Kysely leaves the pool open where it was never used through it.
      if (!pool.ended) await pool.end();
    },
  };
}

/**
 * Classes 08 (connection), 53 (resources), 57 (operator intervention), a transaction that was idle for too long (25P03), a Postgres
 * that takes no writes (25006, during a failover), and the socket's own errors: worth trying again.
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

/** What Postgres is short of, for whoever can give it more. */
const SHORT_OF: Readonly<Record<string, string>> = {
  '25006': 'Postgres takes no writes at the moment.',
  '53100': 'Postgres has no space left on its disk.',
  '53200': 'Postgres has no memory left.',
  '53300': 'Postgres has no connections left.',
};

/** NUL within a text, a year before there were any: what was sent is no value that Postgres has. */
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

import type { Json, Observed } from '@capstan/contracts';
import pg from 'pg';
import { z } from 'zod';
import { boundInputs } from '../bound-inputs.js';
import { logLine } from '../log-line.js';
import type { Call, Runner, RunOutcome, ToolFailure } from '../runner.js';
import { isMoreThanRead, refusalOf } from './check-statement.js';
import { type DbConnection, isNamed } from './db-connections.js';
import { dbFailure } from './db-failure.js';
import { queryPostgres } from './postgres-query.js';
import type { Rows } from './rows.js';
import { sqlShape } from './sql-shape.js';
import { createSqlite } from './sqlite-query.js';

export type DbRunnerOptions = { connections?: readonly DbConnection[] | undefined };

const DEFAULT_ROWS = 1000;
const MAX_ROWS = 10_000;
const POOL_SIZE = 8;

const Inputs = z.object({
  connection: z.string().min(1),
  sql: z.string().min(1).max(1_000_000),
  params: z
    .array(z.custom<Json>(() => true))
    .max(1000)
    .default([]),
  max_rows: z.int().min(1).max(MAX_ROWS).default(DEFAULT_ROWS),
});

/** Queries databases by the names that the operator gave them. Connects at the first query. */
export const createDbRunner = ({ connections = [] }: DbRunnerOptions = {}): Runner => {
  const pools = new Map<DbConnection, pg.Pool>();
  const sqlite = createSqlite();

  const query = (
    connection: DbConnection,
    call: Call,
    inputs: z.infer<typeof Inputs>,
    { write, onSend }: { write: boolean; onSend(): void },
  ): Promise<Rows> => {
    const { sql, params, max_rows } = inputs;
    const { timeout_ms, max_output_bytes } = call.limits;
    const asked = { sql, params, max_rows, max_bytes: max_output_bytes, write };
    if (connection.kind === 'sqlite') {
      onSend();
      call.signal.throwIfAborted();
      return sqlite.query({ ...asked, path: connection.path }, { signal: call.signal, timeout_ms });
    }
    const pool = pools.get(connection) ?? openPool(connection.url);
    pools.set(connection, pool);
    return queryPostgres(pool, connection.url, { ...asked, timeout_ms, signal: call.signal, onSend });
  };

  return {
    type: 'db',
    run: async (call) => {
      const { action, inputs: asked } = boundInputs(call);
      if (action !== 'db.query' && action !== 'db.read')
        return failure('UNKNOWN_TOOL', `the db runner has no tool ${action}`);
      const inputs = Inputs.safeParse(asked);
      if (!inputs.success) return failure('INVALID_INPUTS', z.prettifyError(inputs.error));
      const own = connections.filter((one) => isNamed(one, call.tenant, one.name));
      const connection = own.find((one) => isNamed(one, call.tenant, inputs.data.connection));
      if (!connection) return unknownConnection(inputs.data.connection, own);
      const write = action === 'db.query' && call.limits.write === true;
      const { sql } = inputs.data;
      const refusal = refusalOf(sql, write);
      if (refusal) return failure(refusal.kind, refusal.why);
      logLine(call, `${sqlShape(sql).keyword} on ${connection.name}`);
      let sent = false;
      const onSend = () => {
        call.beforeEffect();
        sent = true;
      };
      try {
        const rows = await query(connection, call, inputs.data, { write, onSend });
        logLine(call, countOf(rows));
        const wrote = write && (isMoreThanRead(sql) || (rows.changed ?? 0) > 0);
        return toOutcome(connection, rows, observed(connection, wrote));
      } catch (error) {
        const seen = sent ? { facts: { observed: observed(connection, false) } } : {};
        if (call.signal.aborted) return { ...failure('CANCELED', 'stopped'), ...seen };
        return { ...dbFailure(connection, error, write && sent), ...seen };
      }
    },
    close: async () => {
      await Promise.all([sqlite.close(), ...[...pools.values()].map((pool) => pool.end())]);
    },
  };
};

const openPool = (connectionString: string): pg.Pool => {
  const pool = new pg.Pool({
    connectionString,
    max: POOL_SIZE,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: 10_000,
    application_name: 'capstan-db',
    allowExitOnIdle: true,
  });
  // If an idle connection breaks, the next query opens a new one.
  pool.on('error', () => {});
  return pool;
};

const toOutcome = (
  { name }: DbConnection,
  { columns, rows, row_count, truncated }: Rows,
  seen: Observed,
): RunOutcome => ({
  success: true,
  payload: { connection: name, columns, rows, row_count, truncated },
  truncated,
  facts: { observed: seen, usage: { rows: rows.length } },
});

const countOf = ({ row_count, truncated }: Rows): string =>
  `${row_count} ${row_count === 1 ? 'row' : 'rows'}${truncated ? ', and more that was left' : ''}`;

const unknownConnection = (name: string, own: readonly DbConnection[]): ToolFailure => {
  const known = own.map((one) => one.name).sort();
  const missing = `there is no connection ${name.slice(0, 80)}`;
  return known.length > 0
    ? failure('INVALID_INPUTS', `${missing}: known are ${known.join(', ')}`)
    : failure('NOT_CONFIGURED', `${missing}: none is set up; CAPSTAN_DB_<NAME> on the worker is the URL of one`);
};

const failure = (kind: ToolFailure['kind'], error: string): ToolFailure => ({
  success: false,
  error,
  kind,
  retryable: false,
});

/** The target of a query: the host of a server, or the file. */
const observed = (connection: DbConnection, wrote: boolean): Observed => {
  if (connection.kind === 'postgres') return { domains: hostsOf(connection.url) };
  const files = [connection.path];
  return { files_read: files, ...(wrote && { files_written: files }) };
};

/** Empty for a Unix socket. */
const hostsOf = (url: string): string[] => {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  return host === '' || host.startsWith('/') ? [] : [host];
};

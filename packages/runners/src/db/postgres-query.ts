import type { Json } from '@capstan/contracts';
import pg from 'pg';
import { orAborted } from '../or-aborted.js';
import { parseValue, typeName } from './postgres-types.js';
import { distinctNames } from './row-values.js';
import { createRowTaker, type RowLimits, type Rows } from './rows.js';

export type PostgresQuery = RowLimits & {
  sql: string;
  params: Json[];
  write: boolean;
  timeout_ms: number;
  signal: AbortSignal;
  /** Called right before the statement and before its COMMIT are sent; nothing can have changed before that. May abort `signal`. */
  onSend(): void;
};

const PAGE = 200;

/** Runs one statement in its own transaction, which is read-only unless `write`. It leaves no state in the session. */
export async function queryPostgres(pool: pg.Pool, url: string, query: PostgresQuery): Promise<Rows> {
  const client = await connected(pool, query.signal);
  let broken: unknown = true;
  // A lost connection fails the running query. As an unhandled event it would end the process.
  client.on('error', ignore);
  const cancel = () => void cancelOn(client, url).catch(() => {});
  query.signal.addEventListener('abort', cancel, { once: true });
  try {
    query.signal.throwIfAborted();
    await client.query(query.write ? 'BEGIN' : 'BEGIN READ ONLY');
    await client.query(
      `SET LOCAL statement_timeout = ${Math.ceil(query.timeout_ms)}; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL bytea_output = 'hex'; SET LOCAL IntervalStyle = 'iso_8601'`,
    );
    query.onSend();
    query.signal.throwIfAborted();
    const rows = await new Promise<Rows>((resolve, reject) => client.query(new PagedQuery(query, resolve, reject)));
    query.onSend();
    query.signal.throwIfAborted();
    await client.query(query.write ? 'COMMIT' : 'ROLLBACK');
    // The result counts, even if the connection breaks now.
    broken = await cleaned(client);
    return rows;
  } catch (error) {
    if (!query.signal.aborted) broken = await rollback(client);
    throw error;
  } finally {
    query.signal.removeEventListener('abort', cancel);
    client.off('error', ignore);
    client.release(broken === undefined ? undefined : true);
  }
}

/** A stopped call does not wait for a connection. If one becomes available later, it is returned to the pool. */
async function connected(pool: pg.Pool, signal: AbortSignal): Promise<pg.PoolClient> {
  signal.throwIfAborted();
  const connecting = pool.connect();
  try {
    return await orAborted(connecting, signal);
  } catch (error) {
    connecting.then((client) => client.release(), ignore);
    throw error;
  }
}

const ignore = () => {};

/** Undefined if the connection can be reused. */
const rollback = (client: pg.PoolClient): Promise<unknown> =>
  client.query('ROLLBACK').then(
    () => cleaned(client),
    (error: unknown) => error,
  );

/** As above. Advisory locks and temporary tables outlive a transaction. */
const cleaned = (client: pg.PoolClient): Promise<unknown> =>
  client.query('DISCARD ALL').then(
    () => undefined,
    (error: unknown) => error,
  );

/** Cancels the running statement through another connection. */
async function cancelOn(client: pg.PoolClient, url: string): Promise<void> {
  const pid: unknown = Reflect.get(client, 'processID');
  if (typeof pid !== 'number') return;
  const other = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000, application_name: 'capstan-db' });
  try {
    await other.connect();
    await other.query('SELECT pg_cancel_backend($1)', [pid]);
  } finally {
    await other.end();
  }
}

/** Fetches rows page by page, and leaves the rest on the server when a limit is reached. */
class PagedQuery extends pg.Query {
  readonly #taker: ReturnType<typeof createRowTaker>;
  readonly #reject: (error: Error) => void;
  #failed = false;

  constructor(query: PostgresQuery, resolve: (rows: Rows) => void, reject: (error: Error) => void) {
    const config = {
      text: query.sql,
      values: query.params,
      rows: Math.min(PAGE, query.max_rows + 1),
      rowMode: 'array',
      queryMode: 'extended',
      types: { getTypeParser: (oid: number) => (text: string) => parseValue(oid, text) },
    };
    super(config);
    const taker = createRowTaker(query);
    this.#taker = taker;
    this.#reject = reject;
    let names: string[] = [];
    let fields: pg.FieldDef[] = [];
    this.on('row', (row: unknown, result: pg.ResultBuilder | undefined) => {
      if (!Array.isArray(row)) return;
      if (fields.length === 0 && result) {
        fields = result.fields;
        names = distinctNames(fields.map(({ name }) => name));
      }
      taker.take(names, row);
    });
    this.on('end', (result: pg.ResultBuilder) => {
      if (this.#failed) return;
      const described = fields.length > 0 ? fields : result.fields;
      const unique = distinctNames(described.map(({ name }) => name));
      resolve({
        columns: described.map(({ dataTypeID }, index) => ({ name: unique[index] ?? '', type: typeName(dataTypeID) })),
        rows: taker.rows,
        row_count: taker.truncated || described.length > 0 ? taker.rows.length : (result.rowCount ?? 0),
        truncated: taker.truncated,
      });
    });
  }

  /** When fetching pages, pg expects the query to send the Sync message. */
  handleError(error: Error, connection: { sync(): void }): void {
    if (!this.#failed) connection.sync();
    this.#failed = true;
    this.#reject(error);
  }

  /** Called between pages. */
  handlePortalSuspended(connection: { sync(): void }): void {
    if (this.#taker.truncated) connection.sync();
    else next(this, connection);
  }
}

/** Continues as pg itself does. */
const next = (query: PagedQuery, connection: { sync(): void }): void => {
  const goOn: unknown = Reflect.get(pg.Query.prototype, 'handlePortalSuspended');
  if (typeof goOn === 'function') Reflect.apply(goOn, query, [connection]);
};

import pg from 'pg';
import { CLIENT_KEEPALIVE } from './connection-settings.js';

const ANSWER_MS = 4000;

/**
 * Asks Postgres over a new connection which of these backends are working on a statement. Returns none if Postgres cannot be
 * reached, and all if it answers with an error (it may be out of connections).
 */
export async function findWorkingBackends(url: string, pids: readonly number[]): Promise<ReadonlySet<number>> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'capstan-probe',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    ...CLIENT_KEEPALIVE,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1) AND state NOT LIKE 'idle%'`,
      [pids],
    );
    return new Set(rows.map(({ pid }) => pid));
  } catch (error) {
    return new Set(error instanceof pg.DatabaseError ? pids : []);
  } finally {
    client.connection.stream.destroy();
  }
}

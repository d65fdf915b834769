import pg from 'pg';
import { atEnd } from '../fixtures/at-end.js';

const pools = new Map<string, pg.Pool>();

/** Runs one statement, bypassing every service. Pooled, because tests that poll would start a Postgres process for each query. */
export async function query(connectionString: string, text: string, values: unknown[] = []) {
  return (await poolOf(connectionString).query(text, values)).rows;
}

function poolOf(connectionString: string): pg.Pool {
  const open = pools.get(connectionString);
  if (open) return open;
  const pool = new pg.Pool({ connectionString, max: 3 });
  // Some tests terminate every connection, including these.
  pool.on('error', () => undefined);
  pools.set(connectionString, pool);
  atEnd(() => {
    pools.delete(connectionString);
    return pool.end();
  });
  return pool;
}

import pg from 'pg';
import { atEnd } from '../fixtures/at-end.js';

/** Queries Postgres directly, bypassing every service. */
export type Ask = <Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;

export function openQuestions(url: string): Ask {
  const pool = new pg.Pool({ connectionString: url, max: 3, application_name: 'capstan-faults' });
  // Some tests terminate every connection, including this one.
  pool.on('error', () => undefined);
  atEnd(() => pool.end());
  return async <Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) =>
    (await pool.query<Row>(sql, [...values])).rows;
}

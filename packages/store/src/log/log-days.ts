import { sql } from 'kysely';
import type { Db, Store } from '../open-store.js';

/** Partitions are created this many days ahead, so logging survives an outage of all coordinators for that long. */
const DAYS_AHEAD = 7;

/**
 * Creating or dropping a partition locks all of `logs` for a moment. During a long read (pg_dump), writers would queue up behind
 * that lock request, so it times out soon, and the next sweep tries again.
 */
const briefly = <T>({ db }: Store, work: (db: Db) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (transaction) => {
    await sql`SET LOCAL lock_timeout = '500ms'`.execute(transaction);
    // One process at a time: the second waits and then finds nothing to do.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended('capstan:log-days', 0))`.execute(transaction);
    return work(transaction);
  });

const isAhead = sql`generate_series(0, ${DAYS_AHEAD}) AS ahead`;
const TODAY = sql`(now() AT TIME ZONE 'UTC')::date`;

/**
 * Creates the partitions of today and of the days ahead; returns the days. A day gets none if lines of that day were written before
 * it had one: they are in `logs_unplanned`, where lines are deleted call by call.
 */
export async function makeLogDays(store: Store): Promise<string[]> {
  const missing = async (db: Db) => {
    const { rows } = await sql<{ day: string; next: string; name: string }>`
      SELECT day::text, (day + 1)::text AS next, name
      FROM ${isAhead}, LATERAL (SELECT ${TODAY} + ahead AS day) AS d, LATERAL (SELECT to_char(day, '"logs_"YYYYMMDD') AS name) AS n
      WHERE to_regclass(name) IS NULL AND NOT EXISTS (SELECT FROM logs_unplanned u WHERE u.day = d.day)
      ORDER BY day`.execute(db);
    return rows;
  };
  if ((await missing(store.db)).length === 0) return [];
  return briefly(store, async (db) => {
    const days = await missing(db);
    for (const { day, next, name } of days) {
      const table = sql.table(name);
      // Created separately and then attached, which does not block writers.
      await sql`CREATE TABLE ${table} (LIKE logs INCLUDING DEFAULTS, PRIMARY KEY (invocation_id, attempt, seq))`.execute(
        db,
      );
      await sql`ALTER TABLE logs ATTACH PARTITION ${table} FOR VALUES FROM (${sql.lit(day)}) TO (${sql.lit(next)})`.execute(
        db,
      );
    }
    return days.map(({ day }) => day);
  });
}

/** The last lines of a day may arrive after midnight. */
const AFTER_MIDNIGHT = sql`interval '1 hour'`;

/**
 * Drops the partitions whose lines are all older than `age_ms`; returns their names. Lines of calls that still have their results,
 * because they ended later or their tenant keeps them longer, move to `logs_kept`, where lines are deleted call by call. Call this
 * after retention has removed the results that are older.
 */
export async function dropLogDays(store: Store, age_ms: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'logs'::regclass AND c.relname ~ '^logs_[0-9]{8}$'
      AND to_date(substr(c.relname, 6), 'YYYYMMDD') + interval '1 day' + ${AFTER_MIDNIGHT} + ${age_ms} * interval '1 millisecond'
        < now() AT TIME ZONE 'UTC'
    ORDER BY c.relname`.execute(store.db);
  const dropped: string[] = [];
  for (const { name } of rows) if (await dropLogDay(store, name)) dropped.push(name);
  return dropped;
}

const dropLogDay = (store: Store, name: string): Promise<boolean> =>
  briefly(store, async (db) => {
    const { rows } = await sql<{ there: boolean }>`SELECT to_regclass(${name}) IS NOT NULL AS there`.execute(db);
    if (!rows[0]?.there) return false;
    const day = sql.table(name);
    await sql`
      INSERT INTO logs_kept (invocation_id, attempt, seq, stream, text, at)
      SELECT invocation_id, attempt, seq, stream, text, at FROM ${day} WHERE invocation_id IN (
        SELECT d.invocation_id FROM (SELECT DISTINCT invocation_id FROM ${day}) AS d
          JOIN invocations i ON i.invocation_id = d.invocation_id LEFT JOIN results r ON r.invocation_id = d.invocation_id
        WHERE r.removed_at IS NULL)
      ON CONFLICT DO NOTHING`.execute(db);
    await sql`DROP TABLE ${day}`.execute(db);
    return true;
  });

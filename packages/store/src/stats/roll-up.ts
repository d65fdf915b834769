import { type RawBuilder, sql } from 'kysely';
import { READY_AT } from '../invocation/ready-at.js';
import { readHorizon } from '../merkle/log-cursor.js';
import type { Db, Store } from '../open-store.js';
import { bucketOf } from './buckets.js';

export const STATS_BATCH = 5000;

/** As float8, because `extract` returns numeric, whose logarithm is slow. */
const epochMs = (interval: RawBuilder<unknown>) => sql`(extract(epoch FROM ${interval}) * 1000)::float8`;

type Cursor = { xid: string; seq: string; top_seq: string; after_seq: string };

/** True if calls may have ended since the last count. Takes no lock. */
export async function hasEndsToCount({ db }: Pick<Store, 'db'>): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    SELECT EXISTS (SELECT FROM results r WHERE r.xid >= c.xid AND (r.xid, r.seq) > (c.xid, c.seq) AND r.seq > c.after_seq)
      OR c.xid > pg_snapshot_xmax(pg_current_snapshot()) AS due
    FROM stats_cursor c`.execute(db);
  return rows[0]?.due === true;
}

/**
 * Adds new ends to the rollups, each exactly once: the cursor is locked while counting, and moves in the same transaction as the counts.
 * Results are counted in the order of their transactions, up to the oldest open one. Returns how many were counted.
 */
export async function rollUp(store: Store, limit = STATS_BATCH): Promise<number> {
  return store.db.transaction().execute(async (db) => {
    const locked = await lockCursor(db);
    if (!locked) return 0;
    const cursor = await resumeElsewhere(db, locked);
    const horizon = await readHorizon(db);
    const { rows } = await sql<{ xid: string; seq: string; top_seq: string; count: number }>`
      WITH ended AS (
        SELECT r.xid, r.seq, r.invocation_id, r.status, r.started_at, r.finished_at, r.duration_ms, r.attempt, r.first_attempt
        FROM results r
        WHERE r.xid >= ${cursor.xid}::text::xid8 AND r.xid < ${horizon}::text::xid8
          AND (r.xid, r.seq) > (${cursor.xid}::text::xid8, ${cursor.seq}::bigint) AND r.seq > ${cursor.after_seq}::bigint
        ORDER BY r.xid, r.seq LIMIT ${limit}
      ), timed AS (
        SELECT i.tenant, i.runner, i.tool_id, e.status, date_trunc('minute', e.finished_at) AS minute,
          CASE WHEN e.started_at IS NOT NULL AND e.attempt = e.first_attempt THEN ${epochMs(sql`e.started_at - ${sql.raw(READY_AT)}`)} END AS wait_ms,
          CASE WHEN e.started_at IS NOT NULL
            THEN coalesce(e.duration_ms, ${epochMs(sql`e.finished_at - e.started_at`)}) END AS run_ms
        FROM ended e JOIN invocations i ON i.invocation_id = e.invocation_id
      ), alike AS (
        SELECT tenant, runner, tool_id, status, minute, ${sql.raw(bucketOf('wait_ms'))} AS wait, ${sql.raw(bucketOf('run_ms'))} AS run,
          count(*) AS count
        FROM timed GROUP BY 1, 2, 3, 4, 5, 6, 7
      ), measured AS (
        SELECT tenant, runner, tool_id, status, minute, 'ended' AS measure, 0::smallint AS bucket, count FROM alike
        UNION ALL
        SELECT tenant, runner, tool_id, status, minute, 'wait', wait, count FROM alike WHERE wait IS NOT NULL
        UNION ALL
        SELECT tenant, runner, tool_id, status, minute, 'run', run, count FROM alike WHERE run IS NOT NULL
      ), added AS (
        INSERT INTO stats (tenant, grain, t, runner, tool_id, status, measure, bucket, count)
        SELECT tenant, grain, date_trunc(grain, minute), runner, tool_id, status, measure, bucket, sum(count)
        FROM measured, unnest(ARRAY['minute', 'hour']) AS grain
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
        ON CONFLICT (tenant, grain, t, runner, tool_id, status, measure, bucket)
          DO UPDATE SET count = stats.count + excluded.count
      )
      SELECT xid::text, seq, (SELECT max(seq) FROM ended) AS top_seq, (SELECT count(*)::int FROM ended) AS count
      FROM ended ORDER BY ended.xid DESC, seq DESC LIMIT 1`.execute(db);
    const [last] = rows;
    const to = last ?? { xid: horizon, seq: '0', top_seq: cursor.top_seq, count: 0 };
    await sql`
      UPDATE stats_cursor SET xid = ${to.xid}::text::xid8, seq = ${to.seq}::bigint, top_seq = greatest(top_seq, ${to.top_seq}::bigint)
      WHERE (xid, seq) < (${to.xid}::text::xid8, ${to.seq}::bigint)`.execute(db);
    return to.count;
  });
}

/** Locks the cursor until the transaction ends; undefined if another process has it. */
async function lockCursor(db: Db): Promise<Cursor | undefined> {
  const { rows } = await sql<Cursor>`
    SELECT xid::text, seq, top_seq, after_seq FROM stats_cursor FOR UPDATE SKIP LOCKED`.execute(db);
  return rows[0];
}

/** A restored dump may be in a cluster with other transaction ids; ends that were already counted are recognized by their seq. */
async function resumeElsewhere(db: Db, cursor: Cursor): Promise<Cursor> {
  const { rows } = await sql<Cursor>`
    UPDATE stats_cursor SET xid = pg_snapshot_xmin(pg_current_snapshot()), seq = 0, after_seq = top_seq
    WHERE xid > pg_snapshot_xmax(pg_current_snapshot())
    RETURNING xid::text, seq, top_seq, after_seq`.execute(db);
  return rows[0] ?? cursor;
}

/** Minutes are for the last days, hours for as long as records are kept. */
export const deleteOldStats = (db: Db, { minutes_ms, hours_ms }: { minutes_ms: number; hours_ms: number }) =>
  sql`DELETE FROM stats WHERE (grain = 'minute' AND t < now() - ${minutes_ms} * interval '1 millisecond')
    OR (grain = 'hour' AND t < now() - ${hours_ms} * interval '1 millisecond')`.execute(db);

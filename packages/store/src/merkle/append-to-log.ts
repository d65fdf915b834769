import type { SealKey } from '@capstan/integrity';
import { sql } from 'kysely';
import pg from 'pg';
import { type Db, queryIn, type Statement, type Store } from '../open-store.js';
import { type Batch, growTrees } from './grow-trees.js';
import { type Cursor, lockCursor, moveCursor, readHorizon, resumeElsewhere } from './log-cursor.js';
import { invocationRecords, runRecords } from './record-sql.js';

/** The most entries appended in one transaction. */
export const LOG_BATCH = 5000;

/** A condition for rows that are due: after the cursor ($1, $2, $3) and before the oldest open transaction ($4). */
const due = (xid: string, seq: string): string =>
  `${xid} >= $1::xid8 AND ${xid} < $4::xid8 AND (${xid}, ${seq}) > ($1::xid8, $2::bigint) AND ${seq} > $3::bigint`;

/** The last row that is due, and how many there are. */
const FIND: Statement = {
  name: 'find-due-for-log',
  text: `
    SELECT count(*)::int AS count, max(seq) AS top_seq, (array_agg(xid ORDER BY xid DESC, seq DESC))[1]::text AS xid,
      (array_agg(seq ORDER BY xid DESC, seq DESC))[1] AS seq
    FROM (
      (SELECT xid, seq FROM results WHERE ${due('xid', 'seq')} ORDER BY xid, seq LIMIT $5)
      UNION ALL
      (SELECT end_xid, end_seq FROM runs WHERE ${due('end_xid', 'end_seq')} ORDER BY end_xid, end_seq LIMIT $5)
      ORDER BY xid, seq LIMIT $5
    ) AS due`,
};

const upTo = (xid: string, seq: string): string => `${due(xid, seq)} AND (${xid}, ${seq}) <= ($5::xid8, $6::bigint)`;

/** One batch for each tenant; the records never leave Postgres, only their hashes do. */
const APPEND: Statement = {
  name: 'append-to-log',
  text: `
    WITH records AS MATERIALIZED (
      ${invocationRecords(upTo('r.xid', 'r.seq'))} UNION ALL ${runRecords(upTo('n.end_xid', 'n.end_seq'))}
    )
    INSERT INTO log_batches (tenant, first, first_seq, last_seq, seqs, hashes, digests)
    SELECT b.tenant, coalesce(h.size, 0), b.first_seq, b.last_seq, b.seqs, b.hashes, b.digests
    FROM (
      SELECT tenant, min(seq) AS first_seq, max(seq) AS last_seq, array_agg(seq ORDER BY xid, seq) AS seqs,
        string_agg(hash, '' ORDER BY xid, seq) AS hashes, array_agg(digests ORDER BY xid, seq) AS digests
      FROM records GROUP BY tenant
    ) AS b LEFT JOIN log_heads h ON h.tenant = b.tenant
    RETURNING tenant, first, hashes, (SELECT edge FROM log_heads h WHERE h.tenant = log_batches.tenant) AS edge`,
};

type Due = { count: number; top_seq: string; xid: string; seq: string };

/** Too large for one value or one statement: records of plans may have thousands of steps. */
const isTooMuch = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && ['53200', '54000', '57014'].includes(error.code ?? '');

/** Retries in smaller batches if one is too large, so that no record of a tenant can block the log. */
export async function appendToLog(store: Store, key: SealKey | null, options: AppendOptions = {}): Promise<number> {
  const { limit = LOG_BATCH } = options;
  try {
    return await appendBatch(store, key, { ...options, limit });
  } catch (error) {
    if (limit === 1 || !isTooMuch(error)) throw error;
    return appendToLog(store, key, { ...options, limit: Math.ceil(limit / 10) });
  }
}

/** `wait`: wait for another process that is appending; otherwise leave the work to it. */
type AppendOptions = { wait?: boolean; limit?: number };

/**
 * Appends ends to the logs of their tenants, in the order of the transactions that wrote them. Only ends older than every open
 * transaction are taken, so nothing becomes visible behind the cursor. Cursor and batches are written in one transaction: each end is in
 * the log exactly once, even after a crash. Returns the number of entries.
 */
async function appendBatch(
  store: Store,
  key: SealKey | null,
  { wait = false, limit }: AppendOptions & { limit: number },
): Promise<number> {
  return store.db.transaction().execute(async (db) => {
    const locked = await lockCursor(db, wait);
    if (!locked) return 0;
    const cursor = await resumeElsewhere(db, locked);
    const horizon = await readHorizon(db);
    const found = await findDue(db, cursor, horizon, limit);
    if (!found) {
      await moveCursor(db, { ...cursor, xid: horizon, seq: '0' });
      return 0;
    }
    const query = queryIn(db);
    const { xid, seq, after_seq } = cursor;
    const batches = await query<Batch>(APPEND, [xid, seq, after_seq, horizon, found.xid, found.seq]);
    await growTrees(db, cursor.installation, batches, key);
    const top_seq = BigInt(found.top_seq) > BigInt(cursor.top_seq) ? found.top_seq : cursor.top_seq;
    await moveCursor(db, { ...cursor, xid: found.xid, seq: found.seq, top_seq });
    return found.count;
  });
}

/** Whether anything may be due. Takes no lock. */
export async function hasDueForLog(store: Store): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    SELECT EXISTS (SELECT FROM results r WHERE r.xid >= c.xid AND r.xid < horizon AND (r.xid, r.seq) > (c.xid, c.seq)
        AND r.seq > c.after_seq)
      OR EXISTS (SELECT FROM runs n WHERE n.end_xid >= c.xid AND n.end_xid < horizon
        AND (n.end_xid, n.end_seq) > (c.xid, c.seq) AND n.end_seq > c.after_seq)
      OR c.xid > pg_snapshot_xmax(pg_current_snapshot()) AS due
    FROM log_cursor c, pg_snapshot_xmax(pg_current_snapshot()) AS horizon`.execute(store.db);
  return rows[0]?.due === true;
}

async function findDue(db: Db, cursor: Cursor, horizon: string, limit: number): Promise<Due | undefined> {
  const { xid, seq, after_seq } = cursor;
  const [found] = await queryIn(db)<Due>(FIND, [xid, seq, after_seq, horizon, limit]);
  return found && found.count > 0 ? found : undefined;
}

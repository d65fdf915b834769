import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/** The log contains everything up to this transaction and, within it, up to this seq. */
export type Cursor = {
  installation: string;
  system_identifier: string | null;
  xid: string;
  seq: string;
  top_seq: string;
  after_seq: string;
};

/** Locks the cursor, so that nobody else appends until the transaction ends. Undefined if another process has it, unless `wait` is set. */
export async function lockCursor(db: Db, wait: boolean): Promise<Cursor | undefined> {
  const { rows } = await sql<Cursor>`
    SELECT installation, system_identifier, xid::text, seq, top_seq, after_seq FROM log_cursor
    FOR UPDATE ${wait ? sql`` : sql`SKIP LOCKED`}`.execute(db);
  return rows[0];
}

/**
 * The oldest transaction that may still write here; all before it have ended. Transaction ids are shared by all databases of a cluster, so
 * those open in other databases are ignored; one whose owner is not visible counts as ours. Run as a separate statement after the lock,
 * so that its snapshot is newer than everything the previous holder committed.
 */
export async function readHorizon(db: Db): Promise<string> {
  const { rows } = await sql<{ horizon: string }>`
    SELECT coalesce(min(open.xid::text::numeric), pg_snapshot_xmax(pg_current_snapshot())::text::numeric)::text AS horizon
    FROM pg_snapshot_xip(pg_current_snapshot()) AS open (xid)
    WHERE open.xid::xid NOT IN (
      SELECT l.transactionid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted AND l.transactionid IS NOT NULL
        AND a.datid <> (SELECT oid FROM pg_database WHERE datname = current_database()))`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('Postgres has no snapshot');
  return row.horizon;
}

export async function moveCursor(
  db: Db,
  { xid, seq, top_seq }: Pick<Cursor, 'xid' | 'seq' | 'top_seq'>,
): Promise<void> {
  await sql`
    UPDATE log_cursor SET xid = ${xid}::text::xid8, seq = ${seq}::bigint, top_seq = ${top_seq}::bigint
    WHERE (xid, seq) < (${xid}::text::xid8, ${seq}::bigint)`.execute(db);
}

type Cluster = { system_identifier: string | null; beyond: boolean };

/**
 * A restored dump may be in a cluster with other transaction ids: the ids of its rows mean nothing there, and the old cursor may be far
 * ahead of all new ids. The log then continues by seq, which a dump preserves: rows that are not in the log get ids of this cluster, and
 * rows that are in it are recognized by their seq.
 */
export async function resumeElsewhere(db: Db, cursor: Cursor): Promise<Cursor> {
  const { system_identifier, beyond } = await readCluster(db, cursor);
  const known = cursor.system_identifier;
  if (known === null && !beyond) {
    if (system_identifier !== null)
      await sql`UPDATE log_cursor SET system_identifier = ${system_identifier}`.execute(db);
    return { ...cursor, system_identifier };
  }
  const moved = known !== null && system_identifier !== null && known !== system_identifier;
  if (!moved && !beyond) return cursor;
  for (const { table, xid, seq, next } of ENDS) {
    const left = sql`(${sql.ref(xid)}, ${sql.ref(seq)}) > (${cursor.xid}::text::xid8, ${cursor.seq}::bigint)`;
    await sql`
      UPDATE ${sql.table(table)} SET ${sql.ref(xid)} = pg_current_xact_id(), ${sql.ref(seq)} = ${next}
      WHERE ${sql.ref(xid)} IS NOT NULL AND ${sql.ref(seq)} > ${cursor.after_seq}::bigint
        AND (${left} OR ${sql.ref(seq)} > ${cursor.top_seq}::bigint)`.execute(db);
  }
  const { rows } = await sql<Cursor>`
    UPDATE log_cursor SET system_identifier = ${system_identifier}, xid = pg_snapshot_xmin(pg_current_snapshot()), seq = 0,
      after_seq = top_seq
    RETURNING installation, system_identifier, xid::text, seq, top_seq, after_seq`.execute(db);
  const [resumed] = rows;
  if (!resumed) throw new Error('the log has no cursor');
  return resumed;
}

/** Results, and runs, whose numbers come from the sequence of results. */
const ENDS = [
  { table: 'results', xid: 'xid', seq: 'seq', next: sql`DEFAULT` },
  { table: 'runs', xid: 'end_xid', seq: 'end_seq', next: sql`nextval(pg_get_serial_sequence('results', 'seq'))` },
] as const;

async function readCluster(db: Db, { xid }: Cursor): Promise<Cluster> {
  const { rows } = await sql<{ may: boolean; beyond: boolean }>`
    SELECT has_function_privilege('pg_control_system()', 'EXECUTE') AS may,
      ${xid}::text::xid8 > pg_snapshot_xmax(pg_current_snapshot()) AS beyond`.execute(db);
  const [asked] = rows;
  if (!asked?.may) return { system_identifier: null, beyond: asked?.beyond === true };
  const { rows: control } = await sql<{ system_identifier: string }>`
    SELECT system_identifier::text FROM pg_control_system()`.execute(db);
  return { system_identifier: control[0]?.system_identifier ?? null, beyond: asked.beyond };
}

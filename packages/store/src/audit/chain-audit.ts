import { chainNext, chainStart } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db, Store } from '../open-store.js';

export type AuditRow = {
  seq: string;
  at: string;
  tenant: string;
  actor: string;
  event: string;
  subject: string;
  detail: unknown;
};

/** The fields of an event that its link covers. */
export const auditEntry = ({ seq, at, tenant, actor, event, subject, detail }: AuditRow): unknown => ({
  ...{ seq, at, tenant, actor, event, subject, detail },
});
export const auditStart = (tenant: string): string => chainStart(`audit of ${tenant}`);

/**
 * Links new events into the chain of their tenant, in the order in which they are found. Transactions do not commit in the order of
 * their `seq`, so the chain has its own numbering. This way, appending an event takes no lock.
 */
export async function chainAudit(store: Store, limit: number): Promise<number> {
  return store.db.transaction().execute(async (db) => {
    // SKIP LOCKED: another process that is already linking does the work.
    const { rows: locked } = await sql<{ low: string }>`SELECT low FROM audit_cursor FOR UPDATE SKIP LOCKED`.execute(
      db,
    );
    const [cursor] = locked;
    if (!cursor) return 0;
    const { rows } = await sql<AuditRow>`
      SELECT seq, at, tenant, actor, event, subject, detail FROM audit a
      WHERE seq > ${cursor.low} AND NOT EXISTS (SELECT FROM audit_links l WHERE l.seq = a.seq)
      ORDER BY seq LIMIT ${limit}`.execute(db);
    await writeAuditLinks(db, rows);
    if (rows.length < limit) await advanceCursor(db);
    return rows.length;
  });
}

/**
 * Every event up to `low` has its link. A candidate for the next `low` is safe once all transactions that were open when it was noted
 * have left the snapshot; no statement takes ten seconds between getting its number and its first write.
 */
async function advanceCursor(db: Db): Promise<void> {
  await sql`
    UPDATE audit_cursor SET low = next_low, next_low = greatest(next_low, coalesce((SELECT max(seq) FROM audit_links), 0)), next_at = now(),
      next_xid = pg_snapshot_xmax(pg_current_snapshot())
    WHERE next_at < now() - interval '10 seconds' AND next_xid <= pg_snapshot_xmin(pg_current_snapshot())`.execute(db);
}

async function writeAuditLinks(db: Db, rows: readonly AuditRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { rows: heads } = await sql<{ tenant: string; place: string; chain_hash: string }>`
    SELECT l.tenant, l.place, l.chain_hash FROM unnest(${[...new Set(rows.map(({ tenant }) => tenant))]}::text[]) AS t (tenant)
      CROSS JOIN LATERAL (SELECT * FROM audit_links l WHERE l.tenant = t.tenant ORDER BY place DESC LIMIT 1) AS l`.execute(
    db,
  );
  const tails = new Map(heads.map(({ tenant, place, chain_hash }) => [tenant, { place: Number(place), chain_hash }]));
  const links = rows.map((row) => {
    const tail = tails.get(row.tenant) ?? { place: 0, chain_hash: auditStart(row.tenant) };
    const next = { place: tail.place + 1, chain_hash: chainNext(tail.chain_hash, auditEntry(row)) };
    tails.set(row.tenant, next);
    return { seq: row.seq, tenant: row.tenant, ...next };
  });
  await sql`
    INSERT INTO audit_links (seq, tenant, place, chain_hash)
    SELECT * FROM json_to_recordset(${JSON.stringify(links)}::json) AS l (seq bigint, tenant text, place bigint, chain_hash text)`.execute(
    db,
  );
}

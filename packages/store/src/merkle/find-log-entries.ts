import { leafHash } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/** The entry of a result, or of the end of a run, in the log of its tenant. */
export type FoundEntry = { seq: string; index: number; record_hash: Buffer; at: string };

/** The batch that contains a seq, and the position in it. The ranges of batches may overlap, because transactions do. */
const BATCH = sql`
  SELECT first, hashes, at, array_position(seqs, u.seq) AS place FROM log_batches
  WHERE tenant = u.tenant AND last_seq >= u.seq AND first_seq <= u.seq AND array_position(seqs, u.seq) IS NOT NULL
  ORDER BY last_seq LIMIT 1`;

/** Entries by seq, without those that are not in the log yet. */
export async function findLogEntries(
  db: Db,
  tenant: string,
  seqs: readonly string[],
): Promise<Map<string, FoundEntry>> {
  if (seqs.length === 0) return new Map();
  const { rows } = await sql<{ seq: string; index: string; record_hash: Buffer; at: string }>`
    SELECT u.seq, b.first + b.place - 1 AS index, substr(b.hashes, (b.place - 1) * 32 + 1, 32) AS record_hash, b.at
    FROM (SELECT ${tenant}::text AS tenant, seq FROM unnest(${seqs}::bigint[]) AS s (seq)) AS u
      CROSS JOIN LATERAL (${BATCH}) AS b`.execute(db);
  return new Map(rows.map((row) => [row.seq, { ...row, index: Number(row.index) }]));
}

/** The hash of the leaf, called `chain_hash` in the API. */
export const chainHash = ({ record_hash }: Pick<FoundEntry, 'record_hash'>): string =>
  `sha256:${leafHash(record_hash).toString('hex')}`;

/** Digests of the fields of entries, by index. */
export async function readDigests(db: Db, tenant: string, indexes: readonly number[]): Promise<Map<number, Buffer>> {
  if (indexes.length === 0) return new Map();
  const { rows } = await sql<{ index: string; digests: Buffer }>`
    WITH wanted AS (SELECT unnest(${indexes}::bigint[]) AS index), batches AS (
      SELECT DISTINCT (
        SELECT first FROM log_batches WHERE tenant = ${tenant} AND first <= w.index ORDER BY first DESC LIMIT 1) AS first
      FROM wanted w
    )
    SELECT b.first + d.place - 1 AS index, d.digests
    FROM log_batches b CROSS JOIN LATERAL unnest(b.digests) WITH ORDINALITY AS d (digests, place)
    WHERE b.tenant = ${tenant} AND b.first = ANY (ARRAY (SELECT first FROM batches))
      AND b.first + d.place - 1 IN (SELECT index FROM wanted)`.execute(db);
  return new Map(rows.map(({ index, digests }) => [Number(index), digests]));
}

export type Standing = {
  /** Ends that are not in the log yet. */
  pending: number;
  /** The highest index among those in the log; null if there is none. */
  last: number | null;
};

/** How many ends of a run or lone invocation are in the log. */
export async function readStanding(db: Db, tenant: string, run_id: string): Promise<Standing> {
  const { rows } = await sql<{ pending: number; last: string | null }>`
    WITH ends AS (
      SELECT r.seq, r.xid FROM invocations i JOIN results r ON r.invocation_id = i.invocation_id WHERE i.run_id = ${run_id}
      UNION ALL
      SELECT r.seq, r.xid FROM results r WHERE r.invocation_id = ${run_id.replace(/^run_/, 'inv_')}
      UNION ALL
      SELECT end_seq, end_xid FROM runs WHERE run_id = ${run_id} AND end_seq IS NOT NULL
    )
    SELECT count(*) FILTER (WHERE b.first IS NULL AND (u.xid, u.seq) > (c.xid, c.seq) AND u.seq > c.after_seq)::int AS pending,
      max(b.first + b.place - 1) AS last
    FROM (SELECT ${tenant}::text AS tenant, seq, xid FROM ends) AS u CROSS JOIN log_cursor c
      LEFT JOIN LATERAL (${BATCH}) AS b ON true`.execute(db);
  const [row] = rows;
  return { pending: row?.pending ?? 0, last: row?.last == null ? null : Number(row.last) };
}

/** The position of an end in the order of the log: null if the call or run has not ended, undefined if there is no such call or run. */
export async function readEndSeq(db: Db, tenant: string, id: string): Promise<string | null | undefined> {
  const { rows } = await sql<{ seq: string | null }>`
    SELECT r.seq FROM invocations i LEFT JOIN results r ON r.invocation_id = i.invocation_id
    WHERE i.invocation_id = ${id} AND i.tenant = ${tenant}
    UNION ALL
    SELECT end_seq FROM runs WHERE run_id = ${id} AND tenant = ${tenant}
    UNION ALL
    SELECT r.seq FROM invocations i LEFT JOIN results r ON r.invocation_id = i.invocation_id
    WHERE i.invocation_id = ${id.replace(/^run_/, 'inv_')} AND i.tenant = ${tenant} AND i.run_id IS NULL`.execute(db);
  return rows.length === 0 ? undefined : (rows[0]?.seq ?? null);
}

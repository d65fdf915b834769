import { createTree, HASH_BYTES, hashesIn, leafHash, type ReadTile, TILE_WIDTH, type Tree } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/** The entries of the log (hashes of records) from `first` on; fewer at the end of the log. */
export async function readEntries(db: Db, tenant: string, first: number, count: number): Promise<Buffer[]> {
  const { rows } = await sql<{ part: Buffer }>`
    SELECT substr(hashes, (skip * 32 + 1)::int, ((least(w.until - first, cardinality(seqs)) - skip) * 32)::int) AS part
    FROM (SELECT ${first}::bigint AS low, ${first}::bigint + ${count}::bigint AS until) AS w CROSS JOIN log_batches
      CROSS JOIN LATERAL (SELECT greatest(w.low - first, 0) AS skip) AS s
    WHERE tenant = ${tenant} AND first < ${first}::bigint + ${count}::bigint AND first >= coalesce((
      SELECT first FROM log_batches WHERE tenant = ${tenant} AND first <= ${first}::bigint ORDER BY first DESC LIMIT 1), 0)
      AND first + cardinality(seqs) > w.low
    ORDER BY first`.execute(db);
  return hashesIn(Buffer.concat(rows.map(({ part }) => part)));
}

/** The hashes of a tile, as far as it is filled. */
export async function readTile(db: Db, tenant: string, level: number, index: number): Promise<Buffer> {
  const first = index * TILE_WIDTH;
  if (level === 0) return Buffer.concat((await readEntries(db, tenant, first, TILE_WIDTH)).map(leafHash));
  const { rows } = await sql<{ hashes: Buffer | null }>`
    SELECT string_agg(hash, '' ORDER BY index) AS hashes FROM log_nodes
    WHERE tenant = ${tenant} AND level = ${level} AND index >= ${first}::bigint AND index < ${first + TILE_WIDTH}::bigint`.execute(
    db,
  );
  return rows[0]?.hashes ?? Buffer.alloc(0);
}

/** The tree of a tenant, read on demand. Tiles that were read stay in memory with it. */
export const openTree = (db: Db, tenant: string): Tree => {
  const read: ReadTile = (level, index) => readTile(db, tenant, level, index);
  return createTree(read);
};

export type StoredCheckpoint = { size: number; note: string; key: string | null };

/** The newest checkpoint of a tenant's log, or the first that covers an index. */
export async function readCheckpoint(
  db: Db,
  tenant: string,
  covering: number | null = null,
): Promise<StoredCheckpoint | undefined> {
  const { rows } = await sql<{ size: string; note: string; key: string | null }>`
    SELECT size, note, key FROM log_checkpoints WHERE tenant = ${tenant} AND size > ${covering ?? 0}::bigint
    ORDER BY size ${covering === null ? sql`DESC` : sql`ASC`} LIMIT 1`.execute(db);
  const [row] = rows;
  return row && { ...row, size: Number(row.size) };
}

/** The first `width` hashes of a tile; undefined if it has fewer. */
export const cutTile = (tile: Buffer, width: number): Buffer | undefined =>
  tile.length < width * HASH_BYTES ? undefined : tile.subarray(0, width * HASH_BYTES);

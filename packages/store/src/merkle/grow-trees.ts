import {
  createEdge,
  hashesIn,
  leafHash,
  logOrigin,
  type SealKey,
  type TileHash,
  verifierKey,
  writeCheckpoint,
} from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/** The entries appended to the log of a tenant, and the right edge of its tree before. */
export type Batch = { tenant: string; first: string; hashes: Buffer; edge: Buffer | null };

/** Extends the trees by their batches and writes a checkpoint for each. */
export async function growTrees(
  db: Db,
  installation: string,
  batches: readonly Batch[],
  key: SealKey | null,
): Promise<void> {
  if (batches.length === 0) return;
  const nodes: (TileHash & { tenant: string })[] = [];
  const heads = batches.map(({ tenant, first, hashes, edge: before }) => {
    const edge = createEdge(Number(first), before ?? undefined);
    for (const entry of hashesIn(hashes))
      for (const node of edge.append(leafHash(entry))) nodes.push({ ...node, tenant });
    const origin = logOrigin(installation, tenant);
    const note = writeCheckpoint({ origin, size: edge.size, root: edge.root() }, key);
    return { tenant, size: edge.size, edge: edge.toBytes(), note, key: key && verifierKey(origin, key) };
  });
  await sql`
    INSERT INTO log_heads (tenant, size, edge)
    SELECT * FROM unnest(${heads.map(({ tenant }) => tenant)}::text[], ${heads.map(({ size }) => size)}::bigint[],
      ${heads.map(({ edge }) => edge)}::bytea[])
    ON CONFLICT (tenant) DO UPDATE SET size = excluded.size, edge = excluded.edge`.execute(db);
  await sql`
    INSERT INTO log_checkpoints (tenant, size, note, key)
    SELECT * FROM unnest(${heads.map(({ tenant }) => tenant)}::text[], ${heads.map(({ size }) => size)}::bigint[],
      ${heads.map(({ note }) => note)}::text[], ${heads.map((head) => head.key)}::text[])`.execute(db);
  if (nodes.length === 0) return;
  await sql`
    INSERT INTO log_nodes (tenant, level, index, hash)
    SELECT * FROM unnest(${nodes.map(({ tenant }) => tenant)}::text[], ${nodes.map(({ level }) => level)}::int[],
      ${nodes.map(({ index }) => index)}::bigint[], ${nodes.map(({ hash }) => hash)}::bytea[])`.execute(db);
}

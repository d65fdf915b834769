import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import type { ArtifactStorage } from './artifact-place.js';

/** Longer than any run takes from storing a file to writing its result. */
const GRACE = "interval '1 day'";

/** Retention: deletes contents that no invocation refers to. Returns their number. */
export const deleteUnusedArtifacts = async (
  { db }: Pick<Store, 'db'>,
  { place }: ArtifactStorage,
  limit: number,
): Promise<number> => {
  const { rows } = await sql<{ sha256: string; place: string }>`
    DELETE FROM artifacts a WHERE a.sha256 = ANY (ARRAY(
      SELECT sha256 FROM artifacts u
      WHERE used_at < now() - ${sql.raw(GRACE)} AND NOT EXISTS (SELECT FROM artifact_names n WHERE n.sha256 = u.sha256)
        AND place IN ('postgres', ${place?.name ?? 'postgres'})
      ORDER BY used_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING a.sha256, a.place`.execute(db);
  for (const row of rows) if (row.place === place?.name) await place.delete(row.sha256);
  return rows.length;
};

import { type Artifact, Failure } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import type { ArtifactStorage } from './artifact-place.js';
import { type Content, type Spooled, spool } from './spool.js';

export type NewArtifact = { name: string; media_type: string; content: Content };
export type ArtifactOwner = { tenant: string; invocation_id: string; attempt: number };

/** Stores content under its hash, once for all owners, and records who may read it. */
export const keepArtifact = (
  store: Store,
  storage: ArtifactStorage,
  owner: ArtifactOwner,
  { name, media_type, content }: NewArtifact,
): Promise<Artifact> =>
  spool(content, storage, async (spooled) => {
    const { sha256, size } = spooled;
    await keepContent(store, storage, spooled);
    await store.db
      .insertInto('artifact_names')
      .values({ ...owner, sha256, name, media_type })
      // A retry may write the same file as the attempt before.
      .onConflict((conflict) =>
        conflict.columns(['invocation_id', 'sha256', 'name']).doUpdateSet({ attempt: owner.attempt }),
      )
      .execute();
    return { sha256, name, media_type, size };
  });

const keepContent = async (store: Store, { place }: ArtifactStorage, spooled: Spooled): Promise<void> => {
  if ('bytes' in spooled) return note(store, spooled, 'postgres', spooled.bytes);
  if (place === null)
    throw new Failure('STORAGE_REFUSED', {
      detail: `An artifact of ${spooled.size} bytes needs CAPSTAN_ARTIFACTS_DIR or CAPSTAN_ARTIFACTS_S3_URL to be set.`,
    });
  await place.put(spooled.sha256, spooled.file);
  await note(store, spooled, place.name, null);
  // Retention may have deleted it between the two steps. It is in use now, so that cannot happen again.
  await place.put(spooled.sha256, spooled.file);
};

/** Existing content stays where it is. */
const note = async (
  { db }: Store,
  { sha256, size }: Spooled,
  place: 'postgres' | 'disk' | 's3',
  content: Buffer | null,
): Promise<void> => {
  await db
    .insertInto('artifacts')
    .values({ sha256, size, place, content })
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ used_at: sql<string>`now()` }))
    .execute();
};

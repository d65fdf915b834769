import { type Artifact, Failure } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import type { ArtifactStorage } from './artifact-place.js';
import { type Content, type Spooled, spool } from './spool.js';

export type NewArtifact = { name: string; media_type: string; content: Content };
export type ArtifactOwner = { tenant: string; invocation_id: string };

/** Keeps a content under its hash, once for everybody who has it, and notes who may read it. */
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
      .values({ tenant: owner.tenant, invocation_id: owner.invocation_id, sha256, name, media_type })
      .onConflict((conflict) => conflict.doNothing())
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
  // It may have been forgotten between these two; from now on it is in use, and is not.
  await place.put(spooled.sha256, spooled.file);
};

/** A content that is there already stays where it is. */
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

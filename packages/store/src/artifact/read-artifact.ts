import { Readable } from 'node:stream';
import { type Artifact, Failure } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import type { ArtifactStorage } from './artifact-place.js';

export type FoundArtifact = Artifact & { place: 'postgres' | 'disk' | 's3' };

/** Finds an artifact that a result of this tenant refers to. If it has several names, the latest is returned. */
export const findArtifact = async (
  { db }: Pick<Store, 'db'>,
  tenant: string,
  sha256: string,
): Promise<FoundArtifact | undefined> => {
  const row = await db
    .selectFrom('artifact_names as names')
    .innerJoin('artifacts', 'artifacts.sha256', 'names.sha256')
    .innerJoin('invocations', 'invocations.invocation_id', 'names.invocation_id')
    .innerJoin('results', 'results.invocation_id', 'names.invocation_id')
    .select(['artifacts.sha256', 'names.name', 'names.media_type', 'artifacts.size', 'artifacts.place'])
    .where('names.sha256', '=', sha256)
    .where('names.tenant', '=', tenant)
    .where('invocations.tenant', '=', tenant)
    .where(sql<boolean>`results.artifacts::jsonb @> jsonb_build_array(jsonb_build_object('sha256', ${sha256}::text))`)
    .orderBy('invocations.seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { ...row, size: Number(row.size) };
};

export const readArtifact = async (
  { db }: Pick<Store, 'db'>,
  { place }: ArtifactStorage,
  found: FoundArtifact,
): Promise<Readable> => {
  if (found.place === 'postgres') {
    const row = await db
      .selectFrom('artifacts')
      .select('content')
      .where('sha256', '=', found.sha256)
      .executeTakeFirst();
    if (row?.content) return Readable.from([row.content]);
  } else if (place?.name === found.place) {
    const content = await place.get(found.sha256);
    if (content) return content;
  } else {
    throw new Failure('STORAGE_UNAVAILABLE', {
      detail: `This artifact is in the storage "${found.place}", which this gateway is not set up for.`,
      retryable: false,
    });
  }
  throw new Failure('NOT_FOUND', { detail: 'The content of this artifact is no longer there.' });
};

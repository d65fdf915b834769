import type { Backbone } from '@capstan/backbone';
import {
  type ArtifactStorage,
  artifactStorage,
  deleteOldInvocations,
  deleteOldSessions,
  deleteUnusedArtifacts,
  forgetWorkers,
} from '@capstan/store';

const BATCH = 5000;

/** Retention. */
export async function forgetOld(
  { store, log }: Backbone,
  age_ms: number,
  artifacts: ArtifactStorage = artifactStorage(null),
): Promise<number> {
  await forgetWorkers(store.db);
  await deleteOldSessions(store, age_ms);
  const deleted = await deleteOldInvocations(store, age_ms, BATCH);
  await deleteUnusedArtifacts(store, artifacts, BATCH);
  if (deleted > 0) log.info({ deleted }, 'forgot old invocations');
  return deleted;
}

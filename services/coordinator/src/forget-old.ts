import type { Backbone } from '@capstan/backbone';
import { deleteOldInvocations, forgetWorkers } from '@capstan/store';

const BATCH = 5000;

/** Retention. */
export async function forgetOld({ store, log }: Backbone, age_ms: number): Promise<number> {
  await forgetWorkers(store.db);
  const deleted = await deleteOldInvocations(store, age_ms, BATCH);
  if (deleted > 0) log.info({ deleted }, 'forgot old invocations');
  return deleted;
}

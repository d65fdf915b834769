import { sql } from 'kysely';
import type { Store } from '../open-store.js';

/** Only queued schedule runs are still needed. */
export async function deleteOldFires({ db }: Store, age_ms: number): Promise<void> {
  await sql`DELETE FROM schedule_fires WHERE fire_at < now() - ${age_ms} * interval '1 millisecond'
    AND outcome <> 'queued'`.execute(db);
}

import { sql } from 'kysely';
import { closeHolds } from '../hold/close-holds.js';
import type { Store } from '../open-store.js';
import { endWaited, takeWaiting } from './end-waiting.js';

/** Ends calls that waited past expires_at. Claims skip them too, so it does not matter how often the sweep runs. */
export async function expireInvocations(store: Store, limit: number): Promise<string[]> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<{ invocation_id: string }>`
      SELECT * FROM (SELECT invocation_id FROM work WHERE expires_at IS NOT NULL AND expires_at <= now()
        ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED) AS waiting
      UNION ALL
      (SELECT unnest(ids) FROM claims WHERE owned_at IS NULL AND expires_at IS NOT NULL AND expires_at <= now()
        ORDER BY expires_at LIMIT ${limit})`.execute(db);
    const late = await takeWaiting(
      db,
      rows.map((row) => row.invocation_id),
    );
    await endWaited(db, late, 'expired');
    const held = late.filter(({ was_held }) => was_held).map((call) => call.invocation_id);
    await closeHolds(db, held, 'expired', 'system');
    return late.map((call) => call.invocation_id);
  });
}

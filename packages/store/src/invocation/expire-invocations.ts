import { sql } from 'kysely';
import { closeHolds } from '../hold/close-holds.js';
import type { Store } from '../open-store.js';
import { tally } from '../run/tally.js';

/** What waited past its expires_at ends `expired`. Claims refuse such rows too, so the sweep's pace decides nothing. */
export async function expireInvocations(store: Store, limit: number): Promise<string[]> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<{ invocation_id: string; was: string }>`
    WITH late AS (
      SELECT invocation_id, status FROM invocations
      WHERE expires_at IS NOT NULL AND status IN ('held', 'deferred', 'queued') AND expires_at <= now()
      ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), expired AS (
      UPDATE invocations i SET status = 'expired', finished_at = now() FROM late
      WHERE i.invocation_id = late.invocation_id AND i.status IN ('held', 'deferred', 'queued')
      RETURNING i.invocation_id, i.run_id, late.status AS was
    ), tallied AS (
      ${sql.raw(tally("SELECT run_id, 'queued' AS was, 'expired' AS status FROM expired WHERE run_id IS NOT NULL"))}
    )
    SELECT invocation_id, was FROM expired`.execute(db);
    const held = rows.flatMap(({ invocation_id, was }) => (was === 'held' ? [invocation_id] : []));
    await closeHolds(db, held, 'expired', 'system');
    return rows.map((row) => row.invocation_id);
  });
}

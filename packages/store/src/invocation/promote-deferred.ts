import type { Delivery } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import { type BoxedDeliveries, boxDeliveries } from '../outbox/outbox.js';

/** Deferred invocations whose time has come become queued; those under a quota wait for their turn there. */
export async function promoteDeferred(store: Store, limit: number): Promise<BoxedDeliveries | null> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<Delivery & { status: string }>`
      WITH due AS (
        SELECT invocation_id FROM invocations WHERE status = 'deferred' AND run_at <= now()
        ORDER BY run_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      UPDATE invocations i SET status = CASE WHEN quota_scopes IS NULL THEN 'queued' ELSE 'deferred' END,
        run_at = CASE WHEN quota_scopes IS NULL THEN run_at END
      FROM due
      WHERE i.invocation_id = due.invocation_id AND i.status = 'deferred'
      RETURNING i.invocation_id, i.runner, i.attempt, i.priority, i.status`.execute(db);
    const queued = rows
      .filter(({ status }) => status === 'queued')
      .map(({ status: _, ...delivery }): Delivery => delivery);
    return queued.length > 0 ? boxDeliveries(db, queued) : null;
  });
}

/** How long until the next deferred start or expiry; null when none waits. */
export async function nextDeadline(store: Store): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number | null }>`
    SELECT extract(epoch FROM least(
      (SELECT min(run_at) FROM invocations WHERE status = 'deferred'),
      (SELECT min(expires_at) FROM invocations WHERE expires_at IS NOT NULL AND status IN ('held', 'deferred', 'queued'))
    ) - now())::float8 * 1000 AS in_ms`.execute(store.db);
  const in_ms = rows[0]?.in_ms ?? null;
  return in_ms === null ? null : Math.max(0, in_ms);
}

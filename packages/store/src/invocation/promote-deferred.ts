import type { QueueName } from '@capstan/contracts';
import { sql } from 'kysely';
import { type Readied, readied } from '../claim/readied.js';
import type { Store } from '../open-store.js';

/** Queues deferred calls whose time has come. Those under a quota stay deferred until `promoteWaiting` admits them. */
export async function promoteDeferred(store: Store, limit: number): Promise<Readied> {
  const { rows } = await sql<{ invocation_id: string; runner: QueueName; status: string }>`
    WITH due AS (
      SELECT invocation_id FROM work WHERE status = 'deferred' AND run_at <= now()
      ORDER BY run_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE work w SET status = CASE WHEN quota_scopes IS NULL THEN 'queued' ELSE 'deferred' END, run_at = NULL
    FROM due WHERE w.invocation_id = due.invocation_id AND w.status = 'deferred'
    RETURNING w.invocation_id, w.runner, w.status`.execute(store.db);
  return readied(rows.filter(({ status }) => status === 'queued'));
}

/** How long until the next deferred start or expiry; null when none waits. */
export async function nextDeadline(store: Store): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number | null }>`
    SELECT extract(epoch FROM least(
      (SELECT min(run_at) FROM work WHERE status = 'deferred' AND run_at IS NOT NULL),
      (SELECT min(expires_at) FROM work WHERE expires_at IS NOT NULL),
      (SELECT min(expires_at) FROM claims WHERE owned_at IS NULL AND expires_at IS NOT NULL)
    ) - now())::float8 * 1000 AS in_ms`.execute(store.db);
  const in_ms = rows[0]?.in_ms ?? null;
  return in_ms === null ? null : Math.max(0, in_ms);
}

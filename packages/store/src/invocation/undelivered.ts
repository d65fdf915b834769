import type { Delivery, RunnerType } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import { type BoxedDeliveries, boxDeliveries } from '../outbox/outbox.js';

/**
 * Retries whose backoff ended `grace_ms` ago and that nobody claimed: their delayed delivery was lost, or waits by a wrong
 * clock. They stop waiting here, so that each is delivered once more and not at every look.
 */
export async function releaseOverdue(store: Store, grace_ms: number, limit: number): Promise<BoxedDeliveries | null> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<Delivery>`
      WITH overdue AS (
        SELECT invocation_id FROM invocations
        WHERE status = 'queued' AND available_at IS NOT NULL
          AND available_at < now() - ${grace_ms} * interval '1 millisecond'
        LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      UPDATE invocations i SET available_at = NULL FROM overdue WHERE i.invocation_id = overdue.invocation_id
      RETURNING i.invocation_id, i.runner, i.attempt, i.priority`.execute(db);
    return rows.length > 0
      ? boxDeliveries(
          db,
          rows.map((row) => ({ ...row, overdue: true })),
        )
      : null;
  });
}

/**
 * Every queued invocation of a runner type, page by page in delivery order. Young ones are left out: their own delivery
 * may still be on its way.
 */
export async function* queuedDeliveries(store: Store, runner: RunnerType, min_age_ms: number, page = 5000) {
  let after = { priority: -2_147_483_648, seq: '0' };
  for (;;) {
    const { rows } = await sql<Delivery & { seq: string }>`
      SELECT invocation_id, runner, attempt, priority, seq FROM invocations
      WHERE runner = ${runner} AND status = 'queued' AND available_at IS NULL
        AND (priority, seq) > (${after.priority}, ${after.seq})
        AND created_at < now() - ${min_age_ms} * interval '1 millisecond'
      ORDER BY priority, seq LIMIT ${page}`.execute(store.db);
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map(({ seq: _, ...delivery }): Delivery => delivery);
    after = { priority: last.priority, seq: last.seq };
  }
}

/** The runner types that have work waiting for longer than `min_age_ms`. */
export async function runnersWaiting(store: Store, min_age_ms: number): Promise<RunnerType[]> {
  const { rows } = await sql<{ runner: RunnerType }>`
    SELECT DISTINCT runner FROM invocations
    WHERE status = 'queued' AND available_at IS NULL
      AND created_at < now() - ${min_age_ms} * interval '1 millisecond'`.execute(store.db);
  return rows.map((row) => row.runner);
}

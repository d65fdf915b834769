import type { QueueName } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import type { Delivery } from './claim-next.js';

/** Receipts in the queue that have had no owner for `min_age_ms`, oldest first. */
export async function undelivered(store: Store, min_age_ms: number, limit: number): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    SELECT c.claim_id, c.runner, cardinality(c.ids) AS size, false AS ahead,
      (SELECT min(priority) FROM invocations i WHERE i.invocation_id = ANY (c.ids)) AS priority
    FROM claims c
    WHERE c.owned_at IS NULL AND c.worker_id IS NULL AND c.created_at <= now() - ${min_age_ms} * interval '1 millisecond'
      AND NOT EXISTS (SELECT FROM queues q WHERE q.runner = c.runner AND q.paused)
    ORDER BY c.created_at LIMIT ${limit}`.execute(store.db);
  return rows;
}

/** Demand and fill level of the queue of a runner type. */
export type Flow = {
  runner: QueueName;
  /** Calls that the live workers can run at once. */
  slots: number;
  /** Calls on receipts without an owner. */
  on_the_way: number;
  /** Whether `work` has calls that could be delivered now. */
  waiting: boolean;
  /** Time until the next retry is due; null if there is none. */
  due_in_ms: number | null;
};

/** For these queues and every pool. */
export async function readFlow(store: Store, runners: readonly QueueName[]): Promise<Flow[]> {
  const { rows } = await sql<Flow>`
    SELECT r.runner,
      (SELECT coalesce(sum(w.concurrency), 0)::int FROM workers w
        WHERE r.runner = ANY (w.runners) AND w.lease_until > now() AND w.stopped_at IS NULL AND NOT w.draining) AS slots,
      (SELECT coalesce(sum(cardinality(c.ids)), 0)::int FROM claims c
        WHERE c.owned_at IS NULL AND c.worker_id IS NULL AND c.runner = r.runner) AS on_the_way,
      -- Not EXISTS: for several runner types at once, it may read the whole backlog.
      coalesce(
        (SELECT true FROM work w WHERE w.runner = r.runner AND w.status = 'queued' AND w.available_at IS NULL LIMIT 1),
        (SELECT true FROM work w WHERE w.runner = r.runner AND w.status = 'queued' AND w.available_at <= now() LIMIT 1),
        false) AS waiting,
      (SELECT extract(epoch FROM min(w.available_at) - now())::float8 * 1000 FROM work w
        WHERE w.runner = r.runner AND w.status = 'queued' AND w.available_at > now()) AS due_in_ms
    FROM (SELECT unnest(${[...runners]}::text[]) UNION SELECT 'app/' || pool FROM pool_versions) AS r (runner)
    WHERE NOT EXISTS (SELECT FROM queues q WHERE q.runner = r.runner AND q.paused)`.execute(store.db);
  return rows;
}

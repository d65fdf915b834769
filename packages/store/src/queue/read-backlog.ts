import type { Statement, Store } from '../open-store.js';

/** What waits in the installation apart from the queues, for monitoring. Ages are in seconds; 0 if nothing waits. */
export type Backlog = {
  holds_pending: number;
  hold_oldest_s: number;
  quota_deferred: number;
  /** Receipts that were given to Redis and have no owner yet. */
  outbox: number;
  outbox_oldest_s: number;
  webhooks_pending: number;
  webhook_oldest_s: number;
  /** The delay of the most overdue schedule. */
  schedule_lag_s: number;
  /** Ends of calls that are not in the log yet (counted up to a limit), and the age of the oldest. */
  unlogged: number;
  unlogged_oldest_s: number;
};

const age = (moment: string): string => `coalesce(greatest(0, extract(epoch FROM now() - ${moment})), 0)::float8`;

const READ: Statement = {
  name: 'read-backlog',
  text: `
    WITH holds AS (SELECT count(*)::int AS count, min(created_at) AS since FROM holds WHERE status = 'pending'),
    deferred AS (SELECT count(*)::int AS count FROM work WHERE status = 'deferred' AND run_at IS NULL),
    outbox AS (
      SELECT count(*)::int AS count, min(created_at) AS since FROM claims WHERE owned_at IS NULL AND worker_id IS NULL
    ), webhooks AS (
      SELECT count(*)::int AS count, min(created_at) AS since FROM webhook_deliveries WHERE state = 'pending'
    ), schedules AS (SELECT min(next_at) AS since FROM schedules WHERE NOT paused AND next_at < now()),
    ends AS (
      SELECT count(*)::int AS count, min(finished_at) AS since FROM (
        SELECT r.finished_at FROM results r, log_cursor c
        WHERE r.xid >= c.xid AND (r.xid, r.seq) > (c.xid, c.seq) AND r.seq > c.after_seq ORDER BY r.xid LIMIT 10000) AS due
    )
    SELECT holds.count AS holds_pending, ${age('holds.since')} AS hold_oldest_s, deferred.count AS quota_deferred,
      outbox.count AS outbox, ${age('outbox.since')} AS outbox_oldest_s,
      webhooks.count AS webhooks_pending, ${age('webhooks.since')} AS webhook_oldest_s,
      ${age('schedules.since')} AS schedule_lag_s, ends.count AS unlogged, ${age('ends.since')} AS unlogged_oldest_s
    FROM holds, deferred, outbox, webhooks, schedules, ends`,
};

export async function readBacklog(store: Pick<Store, 'query'>): Promise<Backlog> {
  const [backlog] = await store.query<Backlog>(READ, []);
  if (!backlog) throw new Error('read-backlog answered no row');
  return backlog;
}

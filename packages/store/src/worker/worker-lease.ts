import type { QueueInfo, RunnerType, WorkerInfo } from '@capstan/contracts';
import { RUNNER_TYPES } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Statement, Store } from '../open-store.js';

export type NewWorker = { worker_id: string; runners: RunnerType[]; host: string; pid: number; concurrency: number };

/**
 * A worker holds one lease for all that it runs: keeping it costs one small write however much is running, and when it
 * ends, everything claimed under this worker_id is taken away at once. A worker that lost its lease starts anew under
 * another id.
 */
export async function registerWorker(store: Store, worker: NewWorker, lease_ms: number): Promise<void> {
  await store.db
    .insertInto('workers')
    .values({ ...worker, lease_until: sql<string>`now() + ${lease_ms} * interval '1 millisecond'` })
    .execute();
}

export type Heartbeat = {
  kept: boolean;
  cancel: string[];
  paused: RunnerType[];
  /** What this worker has held for longer than a lease lasts. One that it does not know of was claimed, and the answer lost. */
  held: { invocation_id: string; attempt: number }[];
};

const KEEP: Statement = {
  name: 'keep-lease',
  text: `
    WITH kept AS (
      UPDATE workers SET seen_at = now(), lease_until = now() + $2 * interval '1 millisecond'
      WHERE worker_id = $1 AND lease_until > now() AND stopped_at IS NULL RETURNING 1
    )
    SELECT EXISTS (SELECT FROM kept) AS kept,
      ARRAY(SELECT invocation_id FROM invocations
        WHERE worker_id = $1 AND status = 'running' AND cancel_requested_at IS NOT NULL) AS cancel,
      ARRAY(SELECT runner FROM queues WHERE paused) AS paused,
      (SELECT coalesce(json_agg(json_build_object('invocation_id', invocation_id, 'attempt', attempt)), '[]')
        FROM invocations
        WHERE worker_id = $1 AND status = 'running' AND started_at < now() - $2 * interval '1 millisecond') AS held`,
};

/** Also tells what signals may have failed to: cancellations and paused queues. */
export async function keepLease(store: Store, worker_id: string, lease_ms: number): Promise<Heartbeat> {
  const [beat] = await store.query<Heartbeat>(KEEP, [worker_id, lease_ms]);
  if (!beat) throw new Error('keep-lease answered no row');
  return beat;
}

export const markDraining = (store: Store, worker_id: string) =>
  store.db.updateTable('workers').set({ draining: true }).where('worker_id', '=', worker_id).execute();

/** A stopped worker's lease ends at once, so that anything it could not settle is rescued without waiting. */
export const stopWorker = (store: Store, worker_id: string) =>
  store.db
    .updateTable('workers')
    .set({ stopped_at: sql<string>`now()`, lease_until: sql<string>`least(lease_until, now())` })
    .where('worker_id', '=', worker_id)
    .execute();

export const listWorkers = (db: Db): Promise<WorkerInfo[]> =>
  db
    .selectFrom('workers')
    .select(['worker_id', 'runners', 'host', 'pid', 'concurrency', 'started_at', 'seen_at'])
    .select(
      sql<WorkerInfo['status']>`CASE WHEN stopped_at IS NOT NULL THEN 'stopped' WHEN lease_until < now() THEN 'lost'
        WHEN draining THEN 'draining' ELSE 'alive' END`.as('status'),
    )
    .select(
      sql<number>`(SELECT count(*)::int FROM invocations i
        WHERE i.worker_id = workers.worker_id AND i.status = 'running')`.as('running'),
    )
    .orderBy('started_at', 'desc')
    .limit(1000)
    .execute();

/** Workers that ended more than a day ago, and left nothing behind. */
export const forgetWorkers = (db: Db) =>
  sql`DELETE FROM workers w WHERE lease_until < now() - interval '1 day'
    AND NOT EXISTS (SELECT FROM invocations i WHERE i.worker_id = w.worker_id AND i.status = 'running')`.execute(db);

export async function listQueues(db: Db): Promise<QueueInfo[]> {
  const { rows } = await sql<QueueInfo>`
    SELECT r.runner, coalesce(q.paused, false) AS paused,
      coalesce(c.queued, 0) AS queued, coalesce(c.deferred, 0) AS deferred, coalesce(c.held, 0) AS held,
      coalesce(c.running, 0) AS running,
      (SELECT count(*)::int FROM workers w
        WHERE r.runner = ANY (w.runners) AND w.lease_until > now() AND w.stopped_at IS NULL) AS workers
    FROM unnest(${[...RUNNER_TYPES]}::text[]) AS r (runner)
    LEFT JOIN queues q ON q.runner = r.runner
    LEFT JOIN (
      SELECT runner, count(*) FILTER (WHERE status = 'queued')::int AS queued,
        count(*) FILTER (WHERE status = 'deferred')::int AS deferred,
        count(*) FILTER (WHERE status = 'held')::int AS held,
        count(*) FILTER (WHERE status = 'running')::int AS running
      FROM invocations WHERE status IN ('queued', 'deferred', 'held', 'running') GROUP BY runner
    ) c ON c.runner = r.runner`.execute(db);
  return rows;
}

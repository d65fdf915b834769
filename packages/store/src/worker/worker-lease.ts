import type { QueueInfo, QueueName, RunningCall, WorkerInfo } from '@capstan/contracts';
import { MAX_CALLS_SHOWN, RUNNER_QUEUES } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Statement, Store } from '../open-store.js';

export type NewWorker = {
  worker_id: string;
  runners: QueueName[];
  host: string;
  pid: number;
  concurrency: number;
  slots?: Record<string, number>;
};

/**
 * A worker has one lease for all its calls: renewing it costs one small write, however many are running. When the lease ends, all receipts
 * of this worker_id are taken away at once. A worker that lost its lease continues under a new id.
 */
export async function registerWorker(store: Store, worker: NewWorker, lease_ms: number): Promise<void> {
  await store.db
    .insertInto('workers')
    .values({
      ...worker,
      slots: worker.slots ? JSON.stringify(worker.slots) : null,
      lease_until: sql<string>`now() + ${lease_ms} * interval '1 millisecond'`,
    })
    .execute();
}

export type Heartbeat = {
  kept: boolean;
  cancel: string[];
  paused: QueueName[];
  /** The receipts of this worker that are at least a second old. If it does not know one, the message about it was lost. */
  receipts: { claim_id: string; runner: QueueName; owned: boolean }[];
};

const KEEP: Statement = {
  name: 'keep-lease',
  text: `
    WITH kept AS (
      UPDATE workers SET seen_at = now(), lease_until = now() + $2 * interval '1 millisecond'
      WHERE worker_id = $1 AND lease_until > now() AND stopped_at IS NULL RETURNING 1
    )
    SELECT EXISTS (SELECT FROM kept) AS kept,
      ARRAY(SELECT unnest(canceled) FROM claims WHERE worker_id = $1) AS cancel,
      ARRAY(SELECT runner FROM queues WHERE paused) AS paused,
      (SELECT coalesce(json_agg(json_build_object('claim_id', claim_id, 'runner', runner, 'owned', owned_at IS NOT NULL)), '[]') FROM claims
        WHERE worker_id = $1 AND greatest(created_at, owned_at) < now() - interval '1 second') AS receipts`,
};

/** Renews the lease. The response also has cancellations and paused queues, whose signals may have been lost. */
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

export const listWorkers = (db: Db): Promise<Omit<WorkerInfo, 'calls'>[]> =>
  db
    .selectFrom('workers')
    .select(['worker_id', 'runners', 'host', 'pid', 'concurrency', 'started_at', 'seen_at'])
    .select(
      sql<WorkerInfo['status']>`CASE WHEN stopped_at IS NOT NULL THEN 'stopped' WHEN lease_until < now() THEN 'lost'
        WHEN draining THEN 'draining' ELSE 'alive' END`.as('status'),
    )
    .select(
      sql<number>`(SELECT count(*)::int FROM claims c, unnest(c.ids) AS id
        WHERE c.worker_id = workers.worker_id AND c.owned_at IS NOT NULL
          AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id))`.as('running'),
    )
    .orderBy('started_at', 'desc')
    .limit(1000)
    .execute();

/** The calls of a tenant that workers are running, by worker, longest running first. */
export async function listRunningCalls(db: Db, tenant: string): Promise<Map<string, RunningCall[]>> {
  const { rows } = await sql<RunningCall & { worker_id: string }>`
    SELECT worker_id, invocation_id, tool_id, since FROM (
      SELECT c.worker_id, i.invocation_id, i.tool_id, c.owned_at AS since,
        row_number() OVER (PARTITION BY c.worker_id ORDER BY c.owned_at, i.seq) AS place
      FROM claims c, unnest(c.ids) AS id JOIN invocations i ON i.invocation_id = id AND i.tenant = ${tenant}
      WHERE c.owned_at IS NOT NULL AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id OFFSET 0)
    ) AS running WHERE place <= ${MAX_CALLS_SHOWN} ORDER BY place`.execute(db);
  const calls = new Map<string, RunningCall[]>();
  for (const { worker_id, ...call } of rows) calls.set(worker_id, [...(calls.get(worker_id) ?? []), call]);
  return calls;
}

/** Deletes workers whose lease ended more than a day ago and that have no receipts left. */
export const forgetWorkers = (db: Db) =>
  sql`WITH gone AS (
      DELETE FROM workers w WHERE lease_until < now() - interval '1 day'
        AND NOT EXISTS (SELECT FROM claims c WHERE c.worker_id = w.worker_id) RETURNING worker_id
    )
    DELETE FROM app_secret_uses WHERE worker_id IN (SELECT worker_id FROM gone)`.execute(db);

/** The counts of all queues, of all tenants together. */
export type QueueCounts = Omit<QueueInfo, 'oldest_wait_s' | 'slots'>;

export async function listQueues(db: Db): Promise<QueueCounts[]> {
  const { rows } = await sql<QueueCounts>`
    SELECT r.runner, coalesce(q.paused, false) AS paused,
      coalesce(c.queued, 0) AS queued, coalesce(c.deferred, 0) AS deferred, coalesce(c.held, 0) AS held,
      coalesce(c.running, 0) AS running,
      (SELECT count(*)::int FROM workers w
        WHERE r.runner = ANY (w.runners) AND w.lease_until > now() AND w.stopped_at IS NULL) AS workers
    FROM (
      SELECT runner, place FROM unnest(${[...RUNNER_QUEUES]}::text[]) WITH ORDINALITY AS u (runner, place)
      UNION ALL SELECT DISTINCT 'app/' || pool, 1000 FROM pool_versions
    ) AS r
    LEFT JOIN queues q ON q.runner = r.runner
    LEFT JOIN (
      SELECT runner, sum(count) FILTER (WHERE status = 'queued')::int AS queued,
        sum(count) FILTER (WHERE status = 'deferred')::int AS deferred,
        sum(count) FILTER (WHERE status = 'held')::int AS held,
        sum(count) FILTER (WHERE status = 'running')::int AS running
      FROM (
        SELECT runner, status, count(*) AS count FROM work GROUP BY runner, status
        UNION ALL
        SELECT c.runner, CASE WHEN c.owned_at IS NULL THEN 'queued' ELSE 'running' END, count(*)
        -- OFFSET 0: one look for each call. As a join, it may read all results there are.
        FROM claims c, unnest(c.ids) AS id WHERE NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id OFFSET 0)
        GROUP BY 1, 2
      ) AS places GROUP BY runner
    ) c ON c.runner = r.runner
    ORDER BY r.place, r.runner`.execute(db);
  return rows;
}

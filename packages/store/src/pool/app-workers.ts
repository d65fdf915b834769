import { type Artifact, type QueueName, queueOfPool } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Statement, Store } from '../open-store.js';

export type AppWorker = { worker_id: string; pool: string; name: string; concurrency: number; version: string | null };

/** Registers a worker of a pool, or makes it alive again: receipts, and not its id, say which calls are its own. */
export async function registerAppWorker(store: Store, worker: AppWorker, lease_ms: number): Promise<void> {
  const { worker_id, pool, name, concurrency, version } = worker;
  const runners: QueueName[] = [queueOfPool(pool)];
  await sql`
    INSERT INTO workers (worker_id, runners, host, pid, concurrency, version, lease_until)
    VALUES (${worker_id}, ${runners}, ${name}, 0, ${concurrency}, ${version}, now() + ${lease_ms} * interval '1 millisecond')
    ON CONFLICT (worker_id) DO UPDATE SET concurrency = greatest(excluded.concurrency, workers.concurrency),
      version = coalesce(excluded.version, workers.version), seen_at = now(),
      lease_until = excluded.lease_until, draining = false, stopped_at = NULL`.execute(store.db);
}

/** A call that a worker has, begun so long ago. */
export type OwnedCall = { claim_id: string; invocation_id: string; attempt: number; age_ms: number; canceled: boolean };

const OWNED: Statement = {
  name: 'owned-calls',
  text: `
    SELECT c.claim_id, u.id AS invocation_id, u.attempt, u.id = ANY (c.canceled) AS canceled,
      extract(epoch FROM now() - c.owned_at)::float8 * 1000 AS age_ms
    FROM claims c, unnest(c.ids, c.attempts) AS u (id, attempt)
    WHERE c.worker_id = $1 AND c.owned_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = u.id)`,
};

/** The calls that are a worker's own, whichever gateway gave them to it. */
export const readOwnedCalls = (store: Store, worker_id: string): Promise<OwnedCall[]> =>
  store.query<OwnedCall>(OWNED, [worker_id]);

export async function noteSecretUse(db: Db, worker_id: string, invocation_id: string, name: string): Promise<void> {
  await db
    .insertInto('app_secret_uses')
    .values({ worker_id, invocation_id, name })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function readSecretUses(db: Db, worker_id: string, invocation_id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('app_secret_uses')
    .select('name')
    .where('worker_id', '=', worker_id)
    .where('invocation_id', '=', invocation_id)
    .execute();
  return rows.map(({ name }) => name);
}

export type LateResult = { invocation_id: string; attempt: number; status: string };

const LATE: Statement = {
  name: 'late-results',
  text: `
    WITH late AS (
      SELECT * FROM json_to_recordset($1::json) AS late (invocation_id text, attempt int, status text)
    ), refused AS (
      UPDATE attempts a SET ended_at = now(), outcome = 'refused', error = 'settled too late: ' || late.status
      FROM late WHERE a.invocation_id = late.invocation_id AND a.attempt = late.attempt AND a.worker_id = $2 AND a.outcome = 'lost'
    )
    SELECT late.invocation_id, late.attempt, coalesce(r.status, CASE WHEN a.outcome NOT IN ('lost', 'refused') THEN 'queued' END) AS status
    FROM late
      LEFT JOIN results r ON r.invocation_id = late.invocation_id AND r.attempt = late.attempt AND r.worker_id = $2
        AND r.outcome IS DISTINCT FROM 'lost'
      LEFT JOIN attempts a ON a.invocation_id = late.invocation_id AND a.attempt = late.attempt AND a.worker_id = $2`,
};

/**
 * Results of calls that are not the worker's own any more. Answers the status of those that it had settled before (the answer was
 * lost); attempts that were taken away stay on record as refused.
 */
export const recallLateResults = (store: Store, worker_id: string, late: readonly LateResult[]) =>
  store.query<{ invocation_id: string; attempt: number; status: string | null }>(LATE, [
    JSON.stringify(late),
    worker_id,
  ]);

/** What a call has left behind so far, for a gateway that did not see its beginning. */
export async function readTraces(db: Db, { tenant, invocation_id, attempt }: Traced) {
  const { rows } = await sql<{ last_seq: number; artifacts: Artifact[] }>`
    SELECT (SELECT coalesce(max(seq), 0)::int FROM logs WHERE invocation_id = ${invocation_id} AND attempt = ${attempt}) AS last_seq,
      (SELECT coalesce(json_agg(json_build_object('sha256', n.sha256, 'name', n.name, 'media_type', n.media_type, 'size', a.size)), '[]')
        FROM artifact_names n JOIN artifacts a ON a.sha256 = n.sha256
        WHERE n.tenant = ${tenant} AND n.invocation_id = ${invocation_id}) AS artifacts`.execute(db);
  return rows[0] ?? { last_seq: 0, artifacts: [] };
}
type Traced = { tenant: string; invocation_id: string; attempt: number };

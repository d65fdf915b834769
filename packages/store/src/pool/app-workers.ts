import { type Artifact, type QueueName, queueOfPool } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Statement, Store } from '../open-store.js';
import type { Heartbeat } from '../worker/worker-lease.js';

export type AppWorker = { worker_id: string; pool: string; name: string; concurrency: number; version: string | null };

/** Registers a worker of a pool, or makes it alive again. Its receipts, not its id, determine its calls. */
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

/** A call of a worker, and how long ago it started. */
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

/** The calls of a worker, whichever gateway assigned them. */
export const readOwnedCalls = (store: Store, worker_id: string): Promise<OwnedCall[]> =>
  store.query<OwnedCall>(OWNED, [worker_id]);

const GIVEN: Statement = {
  name: 'given-receipts',
  text: 'SELECT claim_id, runner, false AS owned FROM claims WHERE worker_id = $1 AND owned_at IS NULL',
};

/** Receipts that were written for a worker and that it does not own yet. */
export const readGivenReceipts = (store: Store, worker_id: string): Promise<Heartbeat['receipts']> =>
  store.query<Heartbeat['receipts'][number]>(GIVEN, [worker_id]);

export async function noteSecretUse(db: Db, worker_id: string, invocation_id: string, name: string): Promise<void> {
  await db
    .insertInto('app_secret_uses')
    .values({ worker_id, invocation_id, name })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
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
 * Returns the status of calls that the worker had already settled (the response was lost). Attempts that were taken away stay on record as refused.
 */
export const recallLateResults = (store: Store, worker_id: string, late: readonly LateResult[]) =>
  store.query<{ invocation_id: string; attempt: number; status: string | null }>(LATE, [
    JSON.stringify(late),
    worker_id,
  ]);

const LEFT: Statement = {
  name: 'left-by-calls',
  text: `
    SELECT u.invocation_id,
      ARRAY(SELECT s.name FROM app_secret_uses s WHERE s.worker_id = $1 AND s.invocation_id = u.invocation_id) AS secrets,
      (SELECT coalesce(json_agg(json_build_object('sha256', n.sha256, 'name', n.name, 'media_type', n.media_type, 'size', a.size)), '[]')
        FROM artifact_names n JOIN artifacts a ON a.sha256 = n.sha256
        WHERE n.invocation_id = u.invocation_id AND (n.attempt = u.attempt OR n.attempt IS NULL)) AS artifacts
    FROM json_to_recordset($2::json) AS u (invocation_id text, attempt int)`,
};

type Attempt = { invocation_id: string; attempt: number };
const attemptsText = (attempts: readonly Attempt[]): string =>
  JSON.stringify(attempts.map(({ invocation_id, attempt }) => ({ invocation_id, attempt })));

/** The secrets that a worker got for its calls and the files that it uploaded, through any gateway. */
export const readLeft = (store: Store, worker_id: string, attempts: readonly Attempt[]) =>
  store.query<{ invocation_id: string; secrets: string[]; artifacts: Artifact[] }>(LEFT, [
    worker_id,
    attemptsText(attempts),
  ]);

const LAST_LINES: Statement = {
  name: 'last-lines',
  text: `
    SELECT u.invocation_id, (
      SELECT coalesce(max(l.seq), 0)::int FROM logs l WHERE l.invocation_id = u.invocation_id AND l.attempt = u.attempt
    ) AS last_seq
    FROM json_to_recordset($1::json) AS u (invocation_id text, attempt int)`,
};

/** The number of the last log line of each attempt, through any gateway. */
export const readLastLines = (store: Store, attempts: readonly Attempt[]) =>
  store.query<{ invocation_id: string; last_seq: number }>(LAST_LINES, [attemptsText(attempts)]);

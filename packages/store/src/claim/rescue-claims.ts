import { codeOf, type InvocationStatus, type QueueName } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { tally } from '../run/tally.js';
import { type Readied, readied } from './readied.js';

/** `moved`: each call, with its new status. */
export type Rescued = Readied & { ended: string[]; moved: Moved[] };

type Receipt = {
  worker_id: string;
  owned_at: string | null;
  ids: string[];
  attempts: number[];
  first_attempts: number[];
  canceled: string[];
};
type Moved = {
  invocation_id: string;
  runner: QueueName;
  attempt: number;
  status: InvocationStatus;
  tenant: string;
  run_id: string | null;
  traceparent: string | null;
  begun: boolean;
};

/**
 * A call that follows a task on a server gets at least this many attempts, even if its tool allows only one, because following
 * has no effect. There is a limit because a task may kill every worker that follows it.
 */
const FOLLOWING_ATTEMPTS = 5;

/**
 * Takes receipts away from workers whose lease has expired; if those wake up, they can no longer settle. Idempotent calls go back
 * to `work` while they have attempts left, and so do calls that never started. Calls that may have taken effect end `ambiguous`,
 * for a person to decide.
 *
 * It takes two statements, because a settlement may commit between the snapshot of the first and its lock on the receipt. Only
 * the second, with a newer snapshot, sees those results.
 */
export async function rescueClaims(store: Store, limit: number): Promise<Rescued> {
  return store.db.transaction().execute(async (db) => {
    const receipts = await takeReceipts(db, limit);
    const moved = receipts.length > 0 ? await moveCalls(db, receipts) : [];
    const begun = moved.filter((row) => row.begun);
    await appendAudit(
      db,
      begun.map(({ invocation_id, tenant, status, attempt }) => ({
        tenant,
        actor: 'coordinator',
        event: 'invocation.rescue',
        subject: invocation_id,
        detail: { lost_attempt: attempt, now: status },
      })),
    );
    return {
      ...readied(moved.filter(({ status }) => status === 'queued')),
      ended: moved.filter(({ status }) => status !== 'queued').map(({ invocation_id }) => invocation_id),
      moved,
    };
  });
}

async function takeReceipts(db: Db, limit: number): Promise<Receipt[]> {
  const { rows } = await sql<Receipt>`
    DELETE FROM claims WHERE claim_id = ANY (ARRAY (
      SELECT c.claim_id FROM workers w JOIN claims c ON c.worker_id = w.worker_id
      WHERE w.lease_until < now() ORDER BY c.claim_id LIMIT ${limit} FOR UPDATE OF c SKIP LOCKED))
    RETURNING worker_id, owned_at, ids, attempts, first_attempts, canceled`.execute(db);
  return rows;
}

async function moveCalls(db: Db, receipts: readonly Receipt[]): Promise<Moved[]> {
  const calls = receipts.flatMap(({ worker_id, owned_at, ids, attempts, first_attempts, canceled }) =>
    ids.map((invocation_id, at) => ({
      ...{ invocation_id, worker_id, owned_at, attempt: attempts[at], first_attempt: first_attempts[at] },
      canceled: canceled.includes(invocation_id),
    })),
  );
  const { rows } = await sql<Moved>`
    WITH moved AS MATERIALIZED (
      SELECT i.invocation_id, i.seq, i.tenant, i.runner, i.priority, i.run_id, i.input_hash, i.expires_at, i.quota_scopes,
        i.watched, i.traceparent, c.worker_id, c.owned_at, c.attempt, c.first_attempt, c.owned_at IS NOT NULL AS begun,
        CASE WHEN c.owned_at IS NULL THEN 'queued'
          WHEN NOT i.idempotent AND NOT k.repeatable THEN 'ambiguous'
          WHEN c.canceled THEN 'canceled'
          WHEN c.attempt - c.first_attempt + 1 < CASE WHEN k.repeatable THEN greatest(i.max_attempts, ${FOLLOWING_ATTEMPTS})
            ELSE i.max_attempts END THEN 'queued'
          ELSE 'failed' END AS status
      FROM json_to_recordset(${JSON.stringify(calls)}::json) AS c (invocation_id text, worker_id text, owned_at timestamptz,
          attempt int, first_attempt int, canceled boolean)
        JOIN invocations i ON i.invocation_id = c.invocation_id,
        LATERAL (SELECT EXISTS (SELECT FROM checkpoints p WHERE p.invocation_id = i.invocation_id AND p.repeatable)
          AS repeatable) AS k
      WHERE i.invocation_id = ANY (${calls.map(({ invocation_id }) => invocation_id)})
        AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = i.invocation_id)
    ), recorded AS (
      INSERT INTO attempts (invocation_id, attempt, worker_id, started_at, outcome, error)
      SELECT invocation_id, attempt, worker_id, owned_at, 'lost', 'the worker was lost' FROM moved WHERE begun
    ), waiting AS (
      INSERT INTO work (invocation_id, seq, tenant, runner, priority, status, attempt, first_attempt, expires_at, quota_scopes)
      SELECT invocation_id, seq, tenant, runner, priority, status, attempt - (NOT begun)::int, first_attempt, expires_at,
        quota_scopes
      FROM moved WHERE status = 'queued'
    ), ended AS (
      INSERT INTO results (invocation_id, status, outcome, attempt, first_attempt, worker_id, started_at, success, payload, error,
        code, declared_side_effects, artifacts, duration_ms, truncated, input_hash, output_hash)
      SELECT invocation_id, status, 'lost', attempt, first_attempt, worker_id, owned_at, CASE WHEN failed THEN false END,
        CASE WHEN failed THEN 'null'::json END, CASE WHEN failed THEN 'every attempt lost its worker' ELSE 'the worker was lost' END,
        CASE WHEN failed THEN ${codeOf('WORKER_LOST')}::int END, CASE WHEN failed THEN '[]'::json END,
        CASE WHEN failed THEN '[]'::json END, CASE WHEN failed THEN 0 END, CASE WHEN failed THEN false END,
        CASE WHEN failed THEN input_hash END, CASE WHEN failed THEN ${hashJson(null)}::text END
      FROM moved, LATERAL (SELECT status = 'failed' AS failed) AS f WHERE status <> 'queued'
    ), to_tell AS (
      INSERT INTO ends_to_tell SELECT invocation_id FROM moved WHERE status <> 'queued' AND watched
      ON CONFLICT DO NOTHING
    ), tallied AS (
      ${sql.raw(tally("SELECT run_id, 'running' AS was, status FROM moved WHERE run_id IS NOT NULL AND status <> 'queued'"))}
    )
    SELECT invocation_id, run_id, traceparent, runner, attempt, status, tenant, begun FROM moved`.execute(db);
  return rows;
}

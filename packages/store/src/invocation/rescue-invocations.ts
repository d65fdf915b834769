import { codeOf, type Delivery, type InvocationStatus } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Store } from '../open-store.js';
import { type BoxedDeliveries, boxDeliveries } from '../outbox/outbox.js';
import { tally } from '../run/tally.js';

export type Rescued = { box: BoxedDeliveries | null; ended: string[]; count: number };

type Row = Delivery & { status: InvocationStatus; tenant: string };

/**
 * Takes running invocations away from workers whose lease has run out. Idempotent ones go back to the queue while they
 * have attempts left; what may have taken effect ends `ambiguous`, for a person to decide. From here on the old
 * attempt's token is stale, so its worker, should it wake, settles nothing.
 */
export async function rescueInvocations(store: Store, limit: number): Promise<Rescued> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<Row>`
      WITH lost AS (
        SELECT i.invocation_id FROM workers w JOIN invocations i ON i.worker_id = w.worker_id AND i.status = 'running'
        WHERE w.lease_until < now() ORDER BY i.invocation_id LIMIT ${limit} FOR UPDATE OF i SKIP LOCKED
      ), moved AS (
        UPDATE invocations i SET
          status = CASE
            WHEN NOT idempotent THEN 'ambiguous'
            WHEN cancel_requested_at IS NOT NULL THEN 'canceled'
            WHEN attempt - first_attempt + 1 < max_attempts THEN 'queued'
            ELSE 'failed' END,
          finished_at = CASE WHEN NOT idempotent OR cancel_requested_at IS NOT NULL
            OR attempt - first_attempt + 1 >= max_attempts THEN now() END
        FROM lost WHERE i.invocation_id = lost.invocation_id AND i.status = 'running'
        RETURNING i.invocation_id, i.runner, i.attempt, i.priority, i.status, i.tenant, i.input_hash, i.worker_id,
          i.started_at, i.run_id
      ), ended AS (
        INSERT INTO attempts (invocation_id, attempt, worker_id, started_at, outcome, error)
        SELECT invocation_id, attempt, worker_id, started_at, 'lost', 'the worker was lost' FROM moved
      ), tallied AS (
        ${sql.raw(tally("SELECT run_id, 'running' AS was, status FROM moved WHERE run_id IS NOT NULL"))}
      ), kept AS (
        INSERT INTO results (invocation_id, attempt, success, payload, error, code, declared_side_effects, artifacts,
          duration_ms, truncated, input_hash, output_hash)
        SELECT invocation_id, attempt, false, 'null', 'every attempt lost its worker', ${codeOf('WORKER_LOST')},
          '[]', '[]', 0, false, input_hash, ${hashJson(null)}
        FROM moved WHERE status = 'failed'
      )
      SELECT invocation_id, runner, attempt, priority, status, tenant FROM moved`.execute(db);
    await appendAudit(
      db,
      rows.map(({ invocation_id, tenant, status, attempt }) => ({
        tenant,
        actor: 'coordinator',
        event: 'invocation.rescue',
        subject: invocation_id,
        detail: { lost_attempt: attempt, now: status },
      })),
    );
    const requeued = rows
      .filter((row) => row.status === 'queued')
      .map(({ invocation_id, runner, attempt, priority }) => ({ invocation_id, runner, attempt, priority }));
    return {
      box: requeued.length > 0 ? await boxDeliveries(db, requeued) : null,
      ended: rows.filter((row) => row.status !== 'queued').map((row) => row.invocation_id),
      count: rows.length,
    };
  });
}

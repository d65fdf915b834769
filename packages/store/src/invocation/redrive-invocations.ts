import type { InvocationFilter, InvocationStatus, Principal, QueueName } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import { type Readied, readied } from '../claim/readied.js';
import { removeFromClaims } from '../claim/remove-from-claims.js';
import { supersede } from '../merkle/supersede.js';
import { queryIn, type Statement, type Store } from '../open-store.js';
import { tallyRuns } from '../run/tally.js';
import { inStatuses } from './filter-invocations.js';

const REDRIVABLE: InvocationStatus[] = ['failed', 'timed_out', 'ambiguous'];
const isRedrivable = (status: InvocationStatus): boolean => REDRIVABLE.includes(status);

type Dropped = {
  invocation_id: string;
  seq: string;
  attempt: number;
  output_hash: string | null;
  run_id: string | null;
  runner: QueueName;
  quota_scopes: string[] | null;
};

/**
 * An ended call stays on its receipt until the last call of the receipt has ended. It must leave the receipt before it is queued
 * again, because settling or rescuing the receipt would run it a second time.
 */
const LEAVE_RECEIPTS: Statement = {
  name: 'leave-receipts',
  text: `
    WITH ${removeFromClaims(
      `SELECT claim_id, worker_id, owned_at, ids, attempts, first_attempts, canceled FROM claims
        WHERE ids && $1::text[] ORDER BY claim_id FOR UPDATE`,
      'false',
    )}
    SELECT invocation_id FROM taken`,
};

/**
 * Queues ended invocations again with the full number of attempts. The old result is deleted; the audit keeps its hash, and
 * `attempts` its last attempt.
 */
export async function redriveInvocations(
  store: Store,
  principal: Principal,
  { invocation_id, ...filter }: InvocationFilter & { invocation_id?: string },
): Promise<Readied> {
  return store.db.transaction().execute(async (db) => {
    const statuses = filter.status?.filter(isRedrivable) ?? REDRIVABLE;
    // A replay never executes anything, so its calls cannot be redriven.
    const { rows: found } = await sql<{ invocation_id: string }>`
      SELECT i.invocation_id ${inStatuses(principal.tenant, statuses, filter)}
        ${invocation_id ? sql`AND i.invocation_id = ${invocation_id}` : sql``}
        AND NOT EXISTS (SELECT FROM runs r WHERE r.run_id = i.run_id AND r.mode = 'replay')`.execute(db);
    const wanted = found.map((row) => row.invocation_id);
    await queryIn(db)(LEAVE_RECEIPTS, [wanted]);
    const { rows: moved } = await sql<Dropped>`
      WITH locked AS (
        SELECT invocation_id FROM results WHERE invocation_id = ANY (${wanted}) AND status = ANY (${REDRIVABLE})
        ORDER BY invocation_id FOR UPDATE
      ), dropped AS (
        DELETE FROM results WHERE invocation_id = ANY (ARRAY (SELECT invocation_id FROM locked)) AND status = ANY (${REDRIVABLE})
        RETURNING *
      ), forgotten AS (
        -- What retention has removed does not come back with the call; its lines may still wait for the end of their day.
        DELETE FROM logs WHERE invocation_id = ANY (ARRAY (SELECT invocation_id FROM dropped WHERE removed_at IS NOT NULL))
      ), recorded AS (
        INSERT INTO attempts (invocation_id, attempt, worker_id, started_at, ended_at, outcome, error)
        SELECT invocation_id, attempt, worker_id, started_at, finished_at, coalesce(outcome, status), error FROM dropped
        WHERE worker_id IS NOT NULL AND started_at IS NOT NULL ON CONFLICT DO NOTHING
      ), lasting AS (
        UPDATE invocations SET expires_at = NULL
        WHERE invocation_id = ANY (ARRAY (SELECT invocation_id FROM dropped)) AND expires_at IS NOT NULL
      ), waiting AS (
        -- Under a quota it waits for its turn again.
        INSERT INTO work (invocation_id, seq, tenant, runner, priority, status, attempt, first_attempt, quota_scopes)
        SELECT i.invocation_id, i.seq, i.tenant, i.runner, i.priority,
          CASE WHEN i.quota_scopes IS NULL THEN 'queued' ELSE 'deferred' END, d.attempt, d.attempt + 1, i.quota_scopes
        FROM dropped d JOIN invocations i ON i.invocation_id = d.invocation_id
        WHERE i.invocation_id = ANY (${wanted})
      )
      SELECT d.invocation_id, d.seq, d.attempt, d.output_hash, i.run_id, i.runner, i.quota_scopes
      FROM dropped d JOIN invocations i ON i.invocation_id = d.invocation_id
      WHERE i.invocation_id = ANY (${wanted})`.execute(db);
    if (moved.length === 0) return readied([]);
    await supersede(db, principal, moved, 'redriven');
    // A run counts every redrivable status as failed.
    await tallyRuns(
      db,
      moved.map(({ run_id }) => ({ run_id, status: 'queued' })),
      'failed',
    );
    const ids = moved.map((row) => row.invocation_id);
    // An approval is single-use: the worker finds it spent and holds the call again.
    await db.updateTable('holds').set({ spent: true }).where('invocation_id', '=', sql<string>`ANY (${ids})`).execute();
    await appendAudit(
      db,
      moved.map((row) => ({
        tenant: principal.tenant,
        actor: principal.actor,
        event: 'invocation.redrive',
        subject: row.invocation_id,
        detail: { after_attempt: row.attempt, replaced_output_hash: row.output_hash },
      })),
    );
    const queued = moved.filter(({ quota_scopes }) => quota_scopes === null);
    return { ids, ready: readied(queued).ready };
  });
}

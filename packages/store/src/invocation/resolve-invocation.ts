import { codeOf, type Principal, type Resolution } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import { supersede } from '../merkle/supersede.js';
import type { Store } from '../open-store.js';
import { tallyRuns } from '../run/tally.js';

/** Records a person's decision about an ambiguous invocation. False if it is not ambiguous, or no longer. */
export async function resolveInvocation(
  store: Store,
  principal: Principal,
  invocation_id: string,
  { outcome, comment }: Resolution,
): Promise<boolean> {
  const success = outcome === 'succeeded';
  return store.db.transaction().execute(async (db) => {
    // A new row instead of an update, so that the log contains both ends in the order in which they were written.
    const { rows } = await sql<{ seq: string; run_id: string | null; watched: boolean | null }>`
      WITH dropped AS (
        DELETE FROM results r USING invocations i
        WHERE r.invocation_id = ${invocation_id} AND r.status = 'ambiguous' AND i.invocation_id = r.invocation_id
          AND i.tenant = ${principal.tenant}
        RETURNING r.invocation_id, r.seq, r.attempt, r.first_attempt, r.worker_id, r.started_at, i.input_hash, i.run_id, i.watched
      ), written AS (
        INSERT INTO results (invocation_id, status, outcome, attempt, first_attempt, worker_id, started_at, success, payload,
          error, code, declared_side_effects, artifacts, duration_ms, truncated, input_hash, output_hash)
        SELECT invocation_id, ${outcome}, 'ambiguous', attempt, first_attempt, worker_id, started_at, ${success}, 'null',
          ${success ? null : comment}, ${success ? null : codeOf('OUTCOME_UNKNOWN')}::int, '[]', '[]', 0, false, input_hash,
          ${hashJson(null)}
        FROM dropped
      )
      SELECT seq, run_id, watched FROM dropped`.execute(db);
    const [dropped] = rows;
    if (!dropped) return false;
    if (dropped.watched)
      await sql`INSERT INTO ends_to_tell VALUES (${invocation_id}) ON CONFLICT DO NOTHING`.execute(db);
    await supersede(db, principal, [{ invocation_id, run_id: dropped.run_id, seq: dropped.seq }], 'resolved');
    await tallyRuns(db, [{ run_id: dropped.run_id, status: outcome }], 'ambiguous');
    await appendAudit(db, [
      {
        tenant: principal.tenant,
        actor: principal.actor,
        event: 'invocation.resolve',
        subject: invocation_id,
        detail: { outcome, comment },
      },
    ]);
    return true;
  });
}

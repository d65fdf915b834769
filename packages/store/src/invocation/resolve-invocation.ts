import { codeOf, type Principal, type Resolution } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Store } from '../open-store.js';
import { tallyRuns } from '../run/tally.js';
import { voidSeals } from '../seal/void-seals.js';

/** A person says what became of an ambiguous invocation. False when it is not ambiguous (any more). */
export async function resolveInvocation(
  store: Store,
  principal: Principal,
  invocation_id: string,
  { outcome, comment }: Resolution,
): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const settled = await db
      .updateTable('invocations')
      .set({
        status: outcome,
        finished_at: sql<string>`now()`,
        watched: sql<boolean | null>`CASE WHEN watched IS NOT NULL THEN true END`,
      })
      .where('tenant', '=', principal.tenant)
      .where('invocation_id', '=', invocation_id)
      .where('status', '=', 'ambiguous')
      .returning(['attempt', 'input_hash', 'run_id'])
      .executeTakeFirst();
    if (!settled) return false;
    // Before runs and results are touched: who seals takes the lock of the seals first, then those.
    await voidSeals(db, principal, [{ invocation_id, run_id: settled.run_id }], 'resolved');
    await tallyRuns(db, [{ run_id: settled.run_id, status: outcome }], 'ambiguous');
    const success = outcome === 'succeeded';
    await db
      .insertInto('results')
      .values({
        invocation_id,
        attempt: settled.attempt,
        success,
        payload: 'null',
        error: success ? null : comment,
        code: success ? null : codeOf('OUTCOME_UNKNOWN'),
        declared_side_effects: '[]',
        artifacts: '[]',
        duration_ms: 0,
        exit_code: null,
        truncated: false,
        input_hash: settled.input_hash,
        output_hash: hashJson(null),
        chain_hash: null,
      })
      .execute();
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

import type { InvocationFilter, InvocationStatus, Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Store } from '../open-store.js';
import { type BoxedDeliveries, boxDeliveries } from '../outbox/outbox.js';
import { tallyRuns } from '../run/tally.js';
import { voidSeals } from '../seal/void-seals.js';
import { matching } from './filter-invocations.js';

const REDRIVABLE = ['failed', 'timed_out', 'ambiguous'] as const satisfies InvocationStatus[];

/**
 * Runs ended invocations again, with all their attempts. The result that is replaced is dropped, its hash stays on the
 * audit and its attempt on record.
 */
export async function redriveInvocations(
  store: Store,
  principal: Principal,
  filter: InvocationFilter & { invocation_id?: string },
): Promise<BoxedDeliveries | null> {
  const { invocation_id, ...rest } = filter;
  return store.db.transaction().execute(async (db) => {
    let query = db
      .updateTable('invocations')
      .set({
        // Under a quota it waits for its turn again; a delivery that comes before that finds nothing to claim.
        status: sql<InvocationStatus>`CASE WHEN quota_scopes IS NULL THEN 'queued' ELSE 'deferred' END`,
        run_at: null,
        first_attempt: sql<number>`attempt + 1`,
        available_at: null,
        finished_at: null,
        expires_at: null,
        cancel_requested_at: null,
        // Its new end is told too.
        watched: sql<boolean | null>`CASE WHEN watched IS NOT NULL THEN true END`,
      })
      .where(matching(principal.tenant, rest))
      .where('status', 'in', REDRIVABLE)
      // A replay executes nothing, also not when it is asked to again.
      .where(sql<boolean>`NOT EXISTS (SELECT FROM runs r WHERE r.run_id = invocations.run_id AND r.mode = 'replay')`);
    if (invocation_id) query = query.where('invocation_id', '=', invocation_id);
    const moved = await query.returning(['invocation_id', 'runner', 'attempt', 'priority', 'run_id']).execute();
    if (moved.length === 0) return null;
    // Before runs and results are touched: who seals takes the lock of the seals first, then those.
    await voidSeals(db, principal, moved, 'redriven');
    // All that can be redriven counts as failed, whichever way it failed.
    await tallyRuns(
      db,
      moved.map(({ run_id }) => ({ run_id, status: 'queued' })),
      'failed',
    );
    const deliveries = moved.map(({ run_id: _, ...delivery }) => delivery);

    const ids = deliveries.map((row) => row.invocation_id);
    // An approval is for one run: what was held is held again, by the worker that finds it spent.
    await db.updateTable('holds').set({ spent: true }).where('invocation_id', '=', sql<string>`ANY (${ids})`).execute();
    const dropped = await db
      .deleteFrom('results')
      .where('invocation_id', '=', sql<string>`ANY (${ids})`)
      .returning(['invocation_id', 'output_hash'])
      .execute();
    const hashes = new Map(dropped.map((row) => [row.invocation_id, row.output_hash]));
    await appendAudit(
      db,
      deliveries.map((row) => ({
        tenant: principal.tenant,
        actor: principal.actor,
        event: 'invocation.redrive',
        subject: row.invocation_id,
        detail: { after_attempt: row.attempt, replaced_output_hash: hashes.get(row.invocation_id) ?? null },
      })),
    );
    return boxDeliveries(db, deliveries);
  });
}

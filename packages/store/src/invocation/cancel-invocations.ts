import type { InvocationFilter, InvocationStatus, Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import { closeHolds } from '../hold/close-holds.js';
import type { Store } from '../open-store.js';
import { tallyRuns } from '../run/tally.js';
import { matching } from './filter-invocations.js';

const CANCELABLE = ['held', 'deferred', 'queued', 'running'] as const satisfies InvocationStatus[];

export type Canceled = { invocation_id: string; status: InvocationStatus };

/**
 * What waits ends here. What runs is marked, and its worker, told by a signal and again by its own heartbeat, stops the
 * tool and settles.
 */
export async function cancelInvocations(
  store: Store,
  principal: Principal,
  filter: InvocationFilter & { invocation_id?: string },
): Promise<Canceled[]> {
  const { invocation_id, ...rest } = filter;
  return store.db.transaction().execute(async (db) => {
    let query = db
      .updateTable('invocations')
      .set({
        status: sql<InvocationStatus>`CASE WHEN status = 'running' THEN status ELSE 'canceled' END`,
        finished_at: sql<string>`CASE WHEN status <> 'running' THEN now() END`,
        cancel_requested_at: sql<string>`coalesce(cancel_requested_at, now())`,
      })
      .where(matching(principal.tenant, rest))
      .where('status', 'in', CANCELABLE);
    if (invocation_id) query = query.where('invocation_id', '=', invocation_id);
    const moved = await query.returning(['invocation_id', 'run_id', 'status']).execute();
    const canceled = moved.map(({ invocation_id, status }) => ({ invocation_id, status }));
    await tallyRuns(db, moved, 'queued');
    const ended = canceled.flatMap((row) => (row.status === 'canceled' ? [row.invocation_id] : []));
    await closeHolds(db, ended, 'canceled', principal.actor);
    await appendAudit(
      db,
      canceled.map((row) => ({
        tenant: principal.tenant,
        actor: principal.actor,
        event: 'invocation.cancel',
        subject: row.invocation_id,
      })),
    );
    return canceled;
  });
}

import type { InvocationFilter, InvocationStatus, Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import { closeHolds } from '../hold/close-holds.js';
import type { Db, Store } from '../open-store.js';
import { endWaited, takeWaiting, type Waited } from './end-waiting.js';
import { inStatuses } from './filter-invocations.js';

const CANCELABLE: InvocationStatus[] = ['held', 'deferred', 'queued', 'running'];
const isCancelable = (status: InvocationStatus): boolean => CANCELABLE.includes(status);
/** A call may move from `work` to a receipt or back between the two lookups, but hardly three times in a row. */
const LOOKS = 3;

export type Canceled = { invocation_id: string; status: Extract<InvocationStatus, 'canceled' | 'running'> };

/**
 * Ends waiting calls. Running calls are marked on their receipt; a signal, or the next heartbeat, tells the worker to stop the
 * tool and settle.
 */
export async function cancelInvocations(
  store: Store,
  { tenant, actor }: Principal,
  { invocation_id, ...filter }: InvocationFilter & { invocation_id?: string },
): Promise<Canceled[]> {
  return store.db.transaction().execute(async (db) => {
    const statuses = filter.status?.filter(isCancelable) ?? CANCELABLE;
    const { rows: wanted } = await sql<{ invocation_id: string }>`
      SELECT i.invocation_id ${inStatuses(tenant, statuses, filter)}
        ${invocation_id ? sql`AND i.invocation_id = ${invocation_id}` : sql``}`.execute(db);
    const canceled = await cancelAll(
      db,
      wanted.map((row) => row.invocation_id),
      actor,
    );
    await appendAudit(
      db,
      canceled.map((row) => ({ tenant, actor, event: 'invocation.cancel', subject: row.invocation_id })),
    );
    return canceled;
  });
}

/** Locks receipts before runs, as settlements do; the other order would deadlock. */
async function cancelAll(db: Db, ids: readonly string[], actor: string): Promise<Canceled[]> {
  const waited: Waited[] = [];
  const canceled: Canceled[] = [];
  let left = ids;
  for (let look = 0; look < LOOKS && left.length > 0; look += 1) {
    const taken = await takeWaiting(db, left);
    const ended = new Set(taken.map((call) => call.invocation_id));
    const running = await markRunning(
      db,
      left.filter((id) => !ended.has(id)),
    );
    for (const call of taken) waited.push(call);
    for (const id of ended) canceled.push({ invocation_id: id, status: 'canceled' });
    for (const id of running) canceled.push({ invocation_id: id, status: 'running' });
    const found = new Set([...ended, ...running]);
    left = left.filter((id) => !found.has(id));
  }
  await endWaited(db, waited, 'canceled');
  const held = waited.filter(({ was_held }) => was_held).map((call) => call.invocation_id);
  await closeHolds(db, held, 'canceled', actor);
  return canceled;
}

async function markRunning(db: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ running: string[] }>`
    WITH locked AS (
      SELECT claim_id FROM claims WHERE owned_at IS NOT NULL AND ids && ${ids}::text[] ORDER BY claim_id FOR UPDATE
    )
    UPDATE claims c SET canceled = ARRAY (SELECT unnest(c.canceled) UNION SELECT id FROM unnest(c.ids) AS id WHERE id = ANY (${ids}))
    WHERE c.claim_id = ANY (ARRAY (SELECT claim_id FROM locked)) AND c.owned_at IS NOT NULL
    RETURNING ARRAY (SELECT id FROM unnest(c.ids) AS id WHERE id = ANY (${ids})
      AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id)) AS running`.execute(db);
  return rows.flatMap(({ running }) => running);
}

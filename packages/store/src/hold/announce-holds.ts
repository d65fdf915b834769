import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Store } from '../open-store.js';
import { type HoldNews, notifyHold } from './notify-hold.js';

/** Records events for the pending holds among these that have not been announced yet. Each is returned once, to one coordinator. */
export async function announceHolds(store: Store, hold_ids: string[]): Promise<HoldNews[]> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<HoldNews>`
      WITH fresh AS (
        SELECT hold_id FROM holds WHERE hold_id = ANY (${hold_ids}) AND status = 'pending' AND announced_round < round
        FOR UPDATE SKIP LOCKED
      )
      UPDATE holds SET announced_round = round WHERE hold_id = ANY (ARRAY (SELECT hold_id FROM fresh))
      RETURNING hold_id, invocation_id, tenant, tool_id, actor, status, expires_at, decided_by, returned_because`.execute(
      db,
    );
    const returned = rows.filter((hold) => hold.returned_because !== null);
    await appendAudit(
      db,
      returned.map(({ tenant, hold_id, returned_because }) => ({
        tenant,
        actor: 'system',
        event: 'hold.return',
        subject: hold_id,
        detail: { reason: returned_because },
      })),
    );
    await notifyHold(db, 'hold.created', rows);
    return rows;
  });
}

/** Records events for holds that expire soon, once for each round of votes. */
export async function warnOfHolds(store: Store, limit: number): Promise<number> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<HoldNews>`
      WITH late AS (
        SELECT hold_id FROM holds WHERE status = 'pending' AND warn_at <= now()
        ORDER BY warn_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      UPDATE holds SET warn_at = NULL WHERE hold_id = ANY (ARRAY (SELECT hold_id FROM late))
      RETURNING hold_id, invocation_id, tenant, tool_id, actor, status, expires_at, decided_by, returned_because`.execute(
      db,
    );
    await notifyHold(db, 'hold.expiring', rows);
    return rows.length;
  });
}

export type HoldsToDo = { fresh: boolean; granted: boolean; overdue: boolean; warn_in_ms: number | null };

/** One query to find out whether there is anything to do, because the coordinator is woken for many reasons. */
export async function holdsToDo(store: Store): Promise<HoldsToDo> {
  const { rows } = await sql<HoldsToDo>`
    SELECT EXISTS (SELECT FROM holds WHERE status = 'pending' AND announced_round < round) AS fresh,
      EXISTS (SELECT FROM grants WHERE NOT applied) AS granted,
      EXISTS (SELECT FROM holds WHERE live AND status = 'pending' AND expires_at <= now()) AS overdue,
      (SELECT extract(epoch FROM min(warn_at) - now())::float8 * 1000 FROM holds
        WHERE status = 'pending' AND warn_at IS NOT NULL) AS warn_in_ms`.execute(store.db);
  return rows[0] ?? { fresh: false, granted: false, overdue: false, warn_in_ms: null };
}

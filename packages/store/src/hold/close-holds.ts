import type { HoldStatus } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { notifyHold } from './notify-hold.js';

/** Closes the pending holds of ended invocations, in the transaction that ended them. Decided holds stay as they are. */
export async function closeHolds(
  db: Db,
  invocation_ids: string[],
  status: Extract<HoldStatus, 'expired' | 'canceled'>,
  decided_by: string,
): Promise<void> {
  if (invocation_ids.length === 0) return;
  const closed = await db
    .updateTable('holds')
    .set({ status, decided_at: sql<string>`now()`, decided_by })
    .where('invocation_id', '=', sql<string>`ANY (${invocation_ids})`)
    .where('status', '=', 'pending')
    .returning([
      'hold_id',
      'invocation_id',
      'tenant',
      'tool_id',
      'actor',
      'status',
      'expires_at',
      'decided_by',
      'returned_because',
    ])
    .execute();
  await notifyHold(db, 'hold.decided', closed);
}

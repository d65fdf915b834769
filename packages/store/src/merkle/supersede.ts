import { loneRunId, type Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { voidSeals } from '../seal/void-seals.js';

/** An end that was revoked, and its position in the order of the log. */
export type TakenBack = { invocation_id: string; run_id: string | null; seq: string };

/**
 * Called in the transaction that revokes ends. Their entries stay in the log; a later entry replaces them. A seal from before the log is
 * voided.
 */
export async function supersede(
  db: Db,
  by: Pick<Principal, 'actor' | 'tenant'>,
  ends: readonly TakenBack[],
  reason: 'redriven' | 'resolved',
): Promise<void> {
  if (ends.length === 0) return;
  await sql`
    INSERT INTO log_superseded (seq, tenant, run_id, id, reason)
    SELECT seq, ${by.tenant}, run_id, id, ${reason}
    FROM unnest(${ends.map(({ seq }) => seq)}::bigint[], ${ends.map((end) => end.run_id ?? loneRunId(end.invocation_id))}::text[],
      ${ends.map(({ invocation_id }) => invocation_id)}::text[]) AS e (seq, run_id, id)
    ON CONFLICT DO NOTHING`.execute(db);
  await voidSeals(db, by, ends, reason);
}

import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../open-store.js';

/** A condition on a call `i`: it counts towards today's budgets, so it stays until tomorrow. */
export const COUNTS_TODAY = sql`EXISTS (
  SELECT FROM quota_uses u WHERE u.invocation_id = i.invocation_id AND u.taken_at >= date_trunc('day', now()))`;

/** Rows without a transaction id were sealed before the log existed. Rows up to after_seq came from another cluster and are in the log. */
export const isLogged = (xid: RawBuilder<unknown>, seq: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(${xid} IS NULL OR (SELECT ${seq} <= c.after_seq OR (${xid}, ${seq}) <= (c.xid, c.seq) FROM log_cursor c))`;

export async function deleteCalls(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    DELETE FROM hold_entries e USING holds h WHERE h.invocation_id = ANY (${ids}) AND e.hold_id = h.hold_id`.execute(
    db,
  );
  for (const table of ['attempts', 'artifact_names', 'holds', 'checkpoints', 'results', 'invocations'])
    await sql`DELETE FROM ${sql.table(table)} WHERE invocation_id = ANY (${ids})`.execute(db);
}

export async function deleteSeals(db: Db, run_ids: readonly string[]): Promise<void> {
  for (const table of ['seal_links', 'seals', 'log_superseded'])
    await sql`DELETE FROM ${sql.table(table)} WHERE run_id = ANY (${run_ids})`.execute(db);
}

import type { TerminalStatus } from '@capstan/contracts';
import { sql } from 'kysely';
import { removeFromClaims } from '../claim/remove-from-claims.js';
import { type Db, queryIn, type Statement } from '../open-store.js';
import { tally } from '../run/tally.js';

/** A call removed from `work`, or from a receipt that had not started, and not stored anywhere else yet. */
export type Waited = { invocation_id: string; attempt: number; first_attempt: number; was_held: boolean };

const TAKE_UNBEGUN: Statement = {
  name: 'take-unbegun',
  text: `
    WITH ${removeFromClaims(
      `SELECT claim_id, worker_id, owned_at, ids, attempts, first_attempts, canceled FROM claims
        WHERE owned_at IS NULL AND ids && $1::text[] ORDER BY claim_id FOR UPDATE`,
      'u.id = ANY ($1::text[])',
    )}
    SELECT invocation_id, attempt - 1 AS attempt, first_attempt, false AS was_held FROM taken`,
};

/** Locks the waiting calls among `ids` for this transaction, in order, so that concurrent bulk actions do not deadlock. */
export async function takeWaiting(db: Db, ids: readonly string[]): Promise<Waited[]> {
  if (ids.length === 0) return [];
  const { rows: waiting } = await sql<Waited>`
    WITH locked AS (
      SELECT invocation_id FROM work WHERE invocation_id = ANY (${ids}) ORDER BY invocation_id FOR UPDATE
    )
    DELETE FROM work WHERE invocation_id = ANY (ARRAY (SELECT invocation_id FROM locked))
    RETURNING invocation_id, attempt, first_attempt, status = 'held' AS was_held`.execute(db);
  if (waiting.length === ids.length) return waiting;
  return [...waiting, ...(await queryIn(db)<Waited>(TAKE_UNBEGUN, [ids]))];
}

/** Writes the results of calls that `takeWaiting` removed, and updates the counts of their runs. */
export async function endWaited(db: Db, calls: readonly Waited[], status: TerminalStatus): Promise<void> {
  if (calls.length === 0) return;
  await sql`
    WITH ended AS (
      INSERT INTO results (invocation_id, status, attempt, first_attempt)
      SELECT invocation_id, ${status}, attempt, first_attempt
      FROM json_to_recordset(${JSON.stringify(calls)}::json) AS c (invocation_id text, attempt int, first_attempt int)
      RETURNING invocation_id, status
    ), moved AS MATERIALIZED (
      SELECT i.invocation_id, i.run_id, i.watched, ended.status FROM ended JOIN invocations i USING (invocation_id)
      WHERE i.invocation_id = ANY (${calls.map(({ invocation_id }) => invocation_id)})
    ), to_tell AS (
      -- One that was redriven may have an end before this one that was not told yet.
      INSERT INTO ends_to_tell SELECT invocation_id FROM moved WHERE watched ON CONFLICT DO NOTHING
    )
    ${sql.raw(tally("SELECT run_id, 'queued' AS was, status FROM moved WHERE run_id IS NOT NULL"))}`.execute(db);
}

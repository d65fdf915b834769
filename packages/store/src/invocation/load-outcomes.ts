import { type InvocationStatus, isTerminal, type Result } from '@capstan/contracts';
import type { Statement, Store } from '../open-store.js';

/** What a waiter is told: the end of an invocation. */
export type InvocationOutcome = {
  invocation_id: string;
  status: InvocationStatus;
  attempt: number;
  finished_at: string | null;
  result: Result | null;
};

type Row = Omit<InvocationOutcome, 'result'> & { [Column in keyof Result]: Result[Column] | null };

const LOAD: Statement = {
  name: 'load-outcomes',
  text: `SELECT i.invocation_id, i.status, i.attempt, i.finished_at, r.success, r.payload, r.error, r.code,
      r.declared_side_effects, r.artifacts, r.facts, r.duration_ms, r.exit_code, r.truncated, r.input_hash, r.output_hash,
      r.chain_hash
    FROM invocations i LEFT JOIN results r ON r.invocation_id = i.invocation_id AND r.invocation_id = ANY ($1)
    WHERE i.invocation_id = ANY ($1)`,
};

/** The ones among `ids` that have ended. */
export async function loadOutcomes(store: Store, ids: string[]): Promise<InvocationOutcome[]> {
  const rows = await store.query<Row>(LOAD, [ids]);
  return rows.filter((row) => isTerminal(row.status)).map(toOutcome);
}

function toOutcome(row: Row): InvocationOutcome {
  const { invocation_id, status, attempt, finished_at, ...result } = row;
  return { invocation_id, status, attempt, finished_at, result: isResult(result) ? result : null };
}

/** The columns of a result are NOT NULL in its table; all of them are null when the join found none. */
export const isResult = (columns: { [Column in keyof Result]: Result[Column] | null }): columns is Result =>
  columns.success !== null;

import type { InvocationStatus, Result } from '@capstan/contracts';
import type { Statement, Store } from '../open-store.js';

/** The end of an invocation, as waiting callers receive it. */
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
  text: `SELECT invocation_id, status, attempt, finished_at, success, payload, error, code, declared_side_effects, artifacts,
      facts, duration_ms, exit_code, truncated, input_hash, output_hash, chain_hash
    FROM results WHERE invocation_id = ANY ($1)`,
};

/** The ones among `ids` that have ended. */
export async function loadOutcomes(store: Store, ids: string[]): Promise<InvocationOutcome[]> {
  const rows = await store.query<Row>(LOAD, [ids]);
  return rows.map(toOutcome);
}

function toOutcome(row: Row): InvocationOutcome {
  const { invocation_id, status, attempt, finished_at, ...result } = row;
  return { invocation_id, status, attempt, finished_at, result: isResult(result) ? result : null };
}

/** False if the call never ran or its outcome is unknown: then all columns are null. */
export const isResult = (columns: { [Column in keyof Result]: Result[Column] | null }): columns is Result =>
  columns.success !== null;

import type { Json, TerminalStatus } from '@capstan/contracts';
import type { Query, Statement } from '../open-store.js';
import { invocationIdOf, UNRESOLVED } from './step-sql.js';
import type { StepKey } from './step-states.js';

/** An invocation of a step that ended, or is said to have. */
export type Heard = StepKey & { invocation_id: string };
export type Ending = Heard & {
  status: TerminalStatus;
  /** Nobody knows whether it took effect, and somebody may yet say so. */
  unresolved: boolean;
  /** Of one that did not succeed. */
  error: string | null;
  /** Undefined where it was not asked for. */
  output: Json | undefined;
};

/** Of most, nothing of the result is asked for: then it is not looked up. */
const ENDINGS: Statement = {
  name: 'read-endings',
  text: `
    SELECT e.invocation_id, e.status, ${UNRESOLVED} AS unresolved,
      CASE WHEN e.status <> 'succeeded' AND e.success IS NOT NULL THEN left(e.error, 500) END AS error,
      CASE WHEN h.output THEN e.payload END AS output
    FROM unnest($1::text[], $2::boolean[]) AS h (invocation_id, output)
      JOIN results e ON e.invocation_id = h.invocation_id
    WHERE e.invocation_id = ANY ($1)`,
};

type Row = Pick<Ending, 'invocation_id' | 'status' | 'unresolved' | 'error'> & { output: Json };

/** How those ended that have ended. What `isTaken` by later steps comes with it. */
export async function readEndings(
  query: Query,
  heard: readonly Heard[],
  isTaken: (heard: Heard) => boolean,
): Promise<Ending[]> {
  if (heard.length === 0) return [];
  const asked = new Map(heard.map((one) => [one.invocation_id, { key: one, output: isTaken(one) }]));
  const rows = await query<Row>(ENDINGS, [[...asked.keys()], [...asked.values()].map((one) => one.output)]);
  return rows.flatMap(({ output, ...row }) => {
    const of = asked.get(row.invocation_id);
    return of ? [{ ...of.key, ...row, output: of.output ? output : undefined }] : [];
  });
}

const MISSED: Statement = {
  name: 'find-missed-endings',
  text: `
    SELECT s.run_id, s.step, s.element, e.invocation_id
    FROM steps s JOIN results e ON e.invocation_id = ${invocationIdOf('s')}
    WHERE s.run_id = ANY ($1) AND s.status = 'started' AND s.elements IS NULL
    ORDER BY s.run_id, s.step, s.element LIMIT $2`,
};

/** Ends that no signal told of, and those that wait to be resolved. */
export const findMissedEndings = async (query: Query, run_ids: readonly string[], limit: number): Promise<Heard[]> =>
  run_ids.length === 0 ? [] : query<Heard>(MISSED, [run_ids, limit]);

const PAYLOADS: Statement = {
  name: 'read-payloads',
  text: 'SELECT invocation_id, payload FROM results WHERE invocation_id = ANY ($1)',
};

/** What came of invocations, as far as something did. */
export async function readPayloads(query: Query, invocation_ids: readonly string[]): Promise<Map<string, Json>> {
  if (invocation_ids.length === 0) return new Map();
  const rows = await query<{ invocation_id: string; payload: Json }>(PAYLOADS, [invocation_ids]);
  return new Map(rows.map(({ invocation_id, payload }) => [invocation_id, payload]));
}

const BEGUN: Statement = {
  name: 'find-begun',
  text: 'SELECT invocation_id FROM invocations WHERE invocation_id = ANY ($1)',
};

/** Which of these invocations there are. */
export async function findBegun(query: Query, invocation_ids: readonly string[]): Promise<Set<string>> {
  if (invocation_ids.length === 0) return new Set();
  const rows = await query<{ invocation_id: string }>(BEGUN, [invocation_ids]);
  return new Set(rows.map(({ invocation_id }) => invocation_id));
}

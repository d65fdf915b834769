import type { Json, TerminalStatus } from '@capstan/contracts';
import type { Query, Statement } from '../open-store.js';
import { invocationIdOf, UNRESOLVED } from './step-sql.js';
import type { StepKey } from './step-states.js';

/** The invocation of a step that may have ended: a signal said so, or a sweep found its result. */
export type Heard = StepKey & { invocation_id: string };
export type Ending = Heard & {
  status: TerminalStatus;
  /** Ambiguous, and a person may still resolve it. */
  unresolved: boolean;
  /** Null if it succeeded. */
  error: string | null;
  /** Undefined if it was not requested. */
  output: Json | undefined;
};

/** Payloads are loaded only for calls whose output a later step uses, which are few. */
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

/** Returns the ends of those that have ended, with the output if a later step uses it (`isTaken`). */
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

/** Ends whose signal was lost, and ambiguous ones that wait to be resolved. */
export const findMissedEndings = async (query: Query, run_ids: readonly string[], limit: number): Promise<Heard[]> =>
  run_ids.length === 0 ? [] : query<Heard>(MISSED, [run_ids, limit]);

const PAYLOADS: Statement = {
  name: 'read-payloads',
  text: 'SELECT invocation_id, payload FROM results WHERE invocation_id = ANY ($1)',
};

/** The payloads of these invocations, as far as they have one. */
export async function readPayloads(query: Query, invocation_ids: readonly string[]): Promise<Map<string, Json>> {
  if (invocation_ids.length === 0) return new Map();
  const rows = await query<{ invocation_id: string; payload: Json }>(PAYLOADS, [invocation_ids]);
  return new Map(rows.map(({ invocation_id, payload }) => [invocation_id, payload]));
}

const BEGUN: Statement = {
  name: 'find-begun',
  text: 'SELECT invocation_id FROM invocations WHERE invocation_id = ANY ($1)',
};

/** The ones among these invocations that exist. */
export async function findBegun(query: Query, invocation_ids: readonly string[]): Promise<Set<string>> {
  if (invocation_ids.length === 0) return new Set();
  const rows = await query<{ invocation_id: string }>(BEGUN, [invocation_ids]);
  return new Set(rows.map(({ invocation_id }) => invocation_id));
}

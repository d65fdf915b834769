import type { Decision, JsonObject, Role } from '@capstan/contracts';
import type { Statement, Store } from '../open-store.js';

/** A recorded call and its decision. `inputs` are set only if they were requested. */
export type RecordedDecision = {
  seq: string;
  invocation_id: string;
  tool_id: string;
  actor: string;
  roles: Role[];
  inputs: JsonObject | null;
  mode: 'execution' | 'planning';
  session_id: string | null;
  labels: Record<string, string>;
  spec_frozen: boolean | null;
  spec_hash: string | null;
  timeout_ms: number;
  created_at: string;
  effect: Decision['effect'];
  reason: string;
  rule_matched: string | null;
  code: string | null;
};

export type DecisionRange = {
  tenant: string;
  since?: string | undefined;
  until?: string | undefined;
  /** Only calls of this tool. */
  tool_id?: string | undefined;
  /** Skips decisions made with the policy of this hash. */
  except_policy?: string | undefined;
};

const IN_RANGE = `tenant = $1 AND ($2::timestamptz IS NULL OR created_at >= $2)
  AND ($3::timestamptz IS NULL OR created_at < $3) AND ($4::text IS NULL OR policy_hash <> $4)
  AND ($5::text IS NULL OR tool_id = $5)`;

const parametersOf = ({ tenant, since, until, except_policy, tool_id }: DecisionRange) => [
  tenant,
  since ?? null,
  until ?? null,
  except_policy ?? null,
  tool_id ?? null,
];

const COUNT: Statement = {
  name: 'count-decisions',
  text: `SELECT count(*)::int AS count FROM invocations WHERE ${IN_RANGE}`,
};

export async function countDecisions(store: Store, range: DecisionRange): Promise<number> {
  const [row] = await store.query<{ count: number }>(COUNT, parametersOf(range));
  return row?.count ?? 0;
}

/**
 * Inputs are most of a row's bytes, so they are read only for tools whose decision can depend on them. One function parses the decision, because each
 * `->>` would parse it from the beginning.
 */
const READ: Statement = {
  name: 'read-decisions',
  text: `SELECT seq, invocation_id, tool_id, actor, roles, CASE WHEN tool_id = ANY ($8) THEN inputs END AS inputs, mode,
      session_id, labels, spec_frozen, spec_hash, timeout_ms, created_at, effect, reason, rule_matched, code
    FROM invocations, json_to_record(decision) AS decided (effect text, reason text, rule_matched text, code text)
    WHERE ${IN_RANGE} AND seq > $6 ORDER BY seq LIMIT $7`,
};

/**
 * Yields batches in the order of submission. The next batch is read while one is evaluated, which takes about as long, so memory use is limited to
 * two batches.
 */
export async function* readDecisions(
  store: Store,
  range: DecisionRange,
  { batch = 2000, with_inputs }: { batch?: number; with_inputs: string[] },
): AsyncGenerator<RecordedDecision[]> {
  const read = (after: string) => {
    const rows = store.query<RecordedDecision>(READ, [...parametersOf(range), after, batch, with_inputs]);
    // If the reader stops early, an error of the next batch is ignored.
    rows.catch(() => {});
    return rows;
  };
  let next: Promise<RecordedDecision[]> | null = read('0');
  while (next) {
    const rows: RecordedDecision[] = await next;
    const last = rows.at(-1);
    next = last && rows.length === batch ? read(last.seq) : null;
    if (rows.length > 0) yield rows;
  }
}

import type { Principal } from '@capstan/contracts';
import type { EntryLine, Row, SealedLine } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { jsonText } from './json-text.js';

/** Version 1.0 contains JSON values; in 2.0, every value is text. */
export type RecordLine = SealedLine | EntryLine;

/** Inserts the calls of a bundle as ended calls of a run. Returns their number; `before` calls were inserted earlier. */
export async function insertBundledCalls(
  db: Db,
  by: Principal,
  run_id: string,
  lines: readonly RecordLine[],
  before: number,
): Promise<number> {
  const calls = lines
    .filter(({ kind }) => kind === 'invocation')
    .map(({ id, tables }, at) => {
      const invocation: Row = tables.invocations?.[0] ?? {};
      return { id: newId(run_id, id, before + at), invocation, result: tables.results?.[0] };
    });
  if (calls.length === 0) return 0;
  await insertCalls(db, by, run_id, calls);
  await insertEnds(db, calls);
  return calls.length;
}

type BundledCall = { id: string; invocation: Row; result: Row | undefined };

/** The id of a step's call contains its position in the plan, other ids the position in the run. */
const newId = (run_id: string, old: string, place: number): string =>
  `inv_${run_id.slice('run_'.length)}${/^inv_[\w-]{21}(-\d+(?:-\d+)?)$/.exec(old)?.[1] ?? `-${place}`}`;

async function insertCalls(db: Db, by: Principal, run_id: string, calls: readonly BundledCall[]): Promise<void> {
  const rows = calls.map(({ id, invocation }) => ({
    ...{ ...invocation, invocation_id: id, inputs: jsonText(invocation.inputs) },
    ...{ decision: jsonText(invocation.decision), labels: jsonText(invocation.labels) },
  }));
  await sql`
    INSERT INTO invocations (invocation_id, run_id, tenant, actor, roles, tool_id, runner, inputs, input_hash, descriptor_hash,
      policy_hash, decision, mode, session_id, idempotent, spec_frozen, spec_hash, priority, timeout_ms, max_attempts, labels)
    SELECT invocation_id, ${run_id}, ${by.tenant}, actor, roles, tool_id, runner, inputs::json, input_hash, descriptor_hash,
      policy_hash, decision::json, mode, session_id, idempotent, spec_frozen, spec_hash, priority, timeout_ms, max_attempts, labels::jsonb
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS i (invocation_id text, actor text, roles text[], tool_id text,
      runner text, inputs text, input_hash text, descriptor_hash text, policy_hash text, decision text, mode text, session_id text,
      idempotent boolean, spec_frozen boolean, spec_hash text, priority int, timeout_ms int, max_attempts int, labels text)`.execute(
    db,
  );
}

/** Version 1.0 stores the status with the invocation, and has no result for calls that never ran. */
async function insertEnds(db: Db, calls: readonly BundledCall[]): Promise<void> {
  const orNull = (value: unknown) => (value === null || value === undefined ? null : jsonText(value));
  const rows = calls.map(({ id, invocation, result }) => ({
    ...{ ...result, invocation_id: id, status: result?.status ?? invocation.status },
    ...{ attempt: result?.attempt ?? invocation.attempt, facts: orNull(result?.facts) },
    ...{ declared_side_effects: orNull(result?.declared_side_effects), artifacts: orNull(result?.artifacts) },
    payload: isKept(result) ? jsonText(result?.payload) : null,
  }));
  await sql`
    INSERT INTO results (invocation_id, status, attempt, success, payload, error, code, declared_side_effects, artifacts, facts,
      duration_ms, exit_code, truncated, input_hash, output_hash, removed_at)
    SELECT invocation_id, status, attempt, success, payload::json, error, code, declared_side_effects::json, artifacts::json,
      facts::json, duration_ms, exit_code, truncated, input_hash, output_hash, removed_at
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS r (invocation_id text, status text, attempt int, success boolean,
      payload text, error text, code int, declared_side_effects text, artifacts text, facts text, duration_ms float8, exit_code int,
      truncated boolean, input_hash text, output_hash text, removed_at timestamptz)`.execute(db);
}

const isKept = (result: Row | undefined): boolean =>
  result !== undefined && (result.success ?? null) !== null && (result.removed_at ?? null) === null;

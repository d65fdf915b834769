import {
  Failure,
  type InvocationStatus,
  isTerminal,
  loneInvocationId,
  type Page,
  RECORDED_STEP_LABEL,
  type Result,
  type Step,
  stepInvocationId,
} from '@capstan/contracts';
import { type RawBuilder, sql } from 'kysely';
import { isResult } from '../invocation/load-outcomes.js';
import type { Db } from '../open-store.js';
import { invocationIdOf, unmovedSteps } from './step-sql.js';
import type { StepTable } from './tables.js';

type Row = Pick<
  StepTable,
  'run_id' | 'step' | 'element' | 'step_id' | 'name' | 'tool_id' | 'seq' | 'has_invocation' | 'reused_from'
> & {
  duration_ms: number | null;
  status: StepTable['status'];
  invocation_status: InvocationStatus | null;
  step_reason: string | null;
  decision_reason: string | null;
  result_error: string | null;
  started_at: string | null;
  finished_at: string | null;
};
type ResultColumns = { [Column in keyof Result]: Result[Column] | null };
type RowWithResult = Row & ResultColumns;
type PlainRow = ResultColumns &
  Pick<Row, 'tool_id' | 'started_at' | 'finished_at' | 'decision_reason' | 'reused_from'> & {
    invocation_id: string;
    invocation_seq: string;
    invocation_status: InvocationStatus;
    recorded_step: string | null;
  };
export type StepChange = { seq: number; step: Omit<Step, 'result'> };

const ID = sql.raw(invocationIdOf('s'));
/** Why a step has not run: the decision and its reason, or the quotas that it waits for. */
const WHY = sql`CASE WHEN i.status = 'held' THEN i.decision ->> 'reason'
  -- One that was refused when it was to run says why itself; it was allowed or held before.
  WHEN i.status = 'denied' THEN coalesce(r.error, i.decision ->> 'reason')
  WHEN i.status = 'rejected' THEN (
    SELECT 'by ' || e.actor || coalesce(': ' || e.comment, '')
    FROM hold_entries e JOIN holds h ON h.hold_id = e.hold_id
    WHERE h.invocation_id = i.invocation_id AND e.kind = 'reject' LIMIT 1)
  WHEN i.status = 'deferred' AND i.quota_scopes IS NOT NULL
    THEN 'waits for room under the quota of ' || array_to_string(i.quota_scopes, ', ') END`;
/** For a call in a replay, the run in which it was executed. A step that was not called has no result to reuse. */
const replayedFrom = (
  run_id: RawBuilder<unknown>,
) => sql`CASE WHEN i.started_at IS NULL AND r.invocation_id IS NOT NULL THEN (
  SELECT replay_of FROM runs WHERE run_id = ${run_id} AND mode = 'replay') END`;
const ROW = sql`s.run_id, s.step, s.element, s.step_id, s.name, s.tool_id, s.status, s.seq, s.has_invocation, s.reused_from, s.reason`;
const COLUMNS = sql`s.run_id, s.step, s.element, s.step_id, s.name, s.tool_id, s.status, s.seq, s.has_invocation,
  coalesce(s.reused_from, ${replayedFrom(sql`s.run_id`)}) AS reused_from, s.reason AS step_reason, i.status AS invocation_status, i.started_at, i.finished_at,
  ${WHY} AS decision_reason, r.error AS result_error`;
/**
 * Selects the page first and then looks up the call of each step: with plain joins, a page of two steps out of ten thousand took
 * 100 ms. The lookup does not rely on `has_invocation`, because a call is committed before the turn that makes it.
 */
const withCalls = (page: RawBuilder<unknown>) => sql`(${page}) s
  LEFT JOIN LATERAL (SELECT * FROM invocation_states WHERE invocation_id = ${ID} LIMIT 1) i ON true
  LEFT JOIN LATERAL (SELECT * FROM results WHERE invocation_id = ${ID} LIMIT 1) r ON true`;
const RESULT = sql`r.success, r.payload, r.error, r.code, r.declared_side_effects, r.artifacts, r.facts, r.duration_ms,
  r.exit_code, r.truncated, r.input_hash, r.output_hash, r.chain_hash`;
/** A fanned-out step is shown as its elements. */
const SHOWN = sql`(s.elements IS NULL OR s.elements = 0)`;

/** In the order of the plan. */
export async function listSteps(
  db: Db,
  run_id: string,
  page: { limit: number; cursor?: string | undefined },
): Promise<Page<Step>> {
  const after = page.cursor === undefined ? { step: -1, element: -1 } : fromCursor(page.cursor);
  const { rows } = await sql<RowWithResult>`
    SELECT ${COLUMNS}, ${RESULT} FROM ${withCalls(sql`
      (SELECT ${ROW} FROM steps s
        WHERE s.run_id = ${run_id} AND (s.step, s.element) > (${after.step}::int, ${after.element}::int) AND ${SHOWN}
        ORDER BY s.step, s.element LIMIT ${page.limit + 1})
      UNION ALL
      (SELECT u.*, 'pending', 0, false, NULL, NULL FROM (${unmovedSteps(run_id, after.step)} ORDER BY u.place
        LIMIT ${page.limit + 1}) AS u)
      ORDER BY step, element LIMIT ${page.limit + 1}`)}
    ORDER BY s.step, s.element`.execute(db);
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    items: shown.map((row) => ({ ...toStep(row), result: resultOf(row) })),
    next_cursor: rows.length > page.limit && last ? `${last.step}.${last.element}` : null,
  };
}

/** The invocations of a run without a plan, as steps in the order of submission. */
export async function listPlainSteps(
  db: Db,
  tenant: string,
  run_id: string,
  page: { limit: number; cursor?: string | undefined },
): Promise<Page<Step>> {
  const limit = page.limit + 1;
  const [, seq = '0', place = '0'] = /^(\d{1,18})\.(\d{1,9})$/.exec(page.cursor ?? '0.0') ?? [];
  const { rows } = await sql<PlainRow>`
    SELECT i.invocation_id, i.seq AS invocation_seq, i.tool_id, i.status AS invocation_status, i.started_at, i.finished_at,
      i.labels ->> ${RECORDED_STEP_LABEL} AS recorded_step, ${WHY} AS decision_reason,
      ${replayedFrom(sql`i.run_id`)} AS reused_from, ${RESULT}
    FROM (
      (SELECT * FROM invocation_states WHERE run_id = ${run_id} AND seq > ${seq} ORDER BY seq LIMIT ${limit})
      UNION ALL
      SELECT * FROM invocation_states
      WHERE invocation_id = ${loneInvocationId(run_id)} AND run_id IS NULL AND seq > ${seq}
    ) i LEFT JOIN LATERAL (SELECT * FROM results WHERE invocation_id = i.invocation_id LIMIT 1) r ON true
    WHERE i.tenant = ${tenant} ORDER BY i.seq LIMIT ${limit}`.execute(db);
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    items: shown.map((row, index) => ({
      step_id: row.recorded_step ?? row.invocation_id,
      index: Number(place) + index,
      element: null,
      name: null,
      tool_id: row.tool_id,
      status: row.invocation_status,
      invocation_id: row.invocation_id,
      reason: row.decision_reason ?? row.error,
      started_at: row.started_at,
      finished_at: row.finished_at,
      duration_ms: row.duration_ms,
      reused_from: row.reused_from,
      result: resultOf(row),
    })),
    next_cursor: rows.length > page.limit && last ? `${last.invocation_seq}.${Number(place) + shown.length}` : null,
  };
}

/** Steps that changed since `after`, in the order of the changes. */
export async function readStepChanges(db: Db, run_id: string, after: number, limit: number): Promise<StepChange[]> {
  const { rows } = await sql<Row>`
    SELECT ${COLUMNS}, r.duration_ms FROM ${withCalls(sql`
      SELECT ${ROW} FROM steps s
      WHERE s.run_id = ${run_id} AND s.seq > ${after} AND s.seq > 0 AND ${SHOWN} ORDER BY s.seq LIMIT ${limit}`)}
    ORDER BY s.seq`.execute(db);
  return rows.map((row) => ({ seq: row.seq, step: stepTold(row) }));
}

/** The running ones among these. The engine does not see claims, so the start of a call is not a change of its step. */
export async function readRunning(
  db: Db,
  invocation_ids: readonly string[],
): Promise<{ invocation_id: string; started_at: string }[]> {
  if (invocation_ids.length === 0) return [];
  const { rows } = await sql<{ invocation_id: string; started_at: string }>`
    SELECT invocation_id, started_at FROM invocation_states
    WHERE invocation_id = ANY (${invocation_ids}) AND status = 'running'`.execute(db);
  return rows;
}

function stepTold(row: Row): StepChange['step'] {
  const step = { ...toStep(row), status: statusTold(row) };
  return step.status === 'running' ? { ...step, reason: null, finished_at: null, duration_ms: null } : step;
}

/** The end of a call is reported with the change in which its step ends, not earlier. */
function statusTold({ status, invocation_status }: Row): Step['status'] {
  if (status !== 'started') return status;
  if (invocation_status === 'ambiguous') return invocation_status;
  return invocation_status === null || isTerminal(invocation_status) ? 'running' : invocation_status;
}

/** If the step has an invocation, its status is the status of the step, also after a redrive. */
function toStep(row: Row): Omit<Step, 'result'> {
  const { run_id, step, element, step_id, name, tool_id, started_at, finished_at, duration_ms, reused_from } = row;
  const status = row.invocation_status ?? (row.status === 'started' ? 'running' : row.status);
  const isCalled = row.has_invocation || row.invocation_status !== null;
  return {
    step_id,
    index: step,
    element: element < 0 ? null : element,
    name,
    tool_id,
    status,
    invocation_id: isCalled ? stepInvocationId(run_id, step, element < 0 ? null : element) : null,
    reason: row.step_reason ?? row.decision_reason ?? row.result_error,
    started_at,
    finished_at,
    duration_ms,
    reused_from,
  };
}

function resultOf(row: ResultColumns & Pick<Row, 'invocation_status'>): Result | null {
  const ended = row.invocation_status !== null && isTerminal(row.invocation_status);
  const { success, payload, error, code, declared_side_effects, artifacts, facts, duration_ms } = row;
  const { exit_code, truncated, input_hash, output_hash, chain_hash } = row;
  const result = {
    success,
    payload,
    error,
    code,
    declared_side_effects,
    artifacts,
    facts,
    duration_ms,
    exit_code,
    truncated,
    input_hash,
    output_hash,
    chain_hash,
  };
  return ended && isResult(result) ? result : null;
}

function fromCursor(cursor: string): { step: number; element: number } {
  const [, step, element] = /^(\d{1,9})\.(-1|\d{1,9})$/.exec(cursor) ?? [];
  if (step === undefined || element === undefined)
    throw new Failure('INVALID_REQUEST', { detail: 'cursor: take it from next_cursor of the page before.' });
  return { step: Number(step), element: Number(element) };
}

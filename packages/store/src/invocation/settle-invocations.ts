import type { Artifact, InvocationStatus, Json, RunFacts, SideEffect } from '@capstan/contracts';
import { auditDenials } from '../audit/audit-denials.js';
import { AUDIT_ENDS } from '../audit/audit-ends.js';
import { RETURN_HOLDS } from '../hold/return-holds.js';
import type { Query, Statement, Store } from '../open-store.js';
import { tally } from '../run/tally.js';
import { notify } from '../signal/channel.js';

/**
 * The end of an attempt. `queued` hands the invocation back: a retry after backoff_ms, or at once. `held`: what was released
 * is not what would run; `error` says why, and it waits for a person for expires_in_ms again.
 */
export type Settlement = {
  invocation_id: string;
  attempt: number;
  status: Extract<
    InvocationStatus,
    'succeeded' | 'failed' | 'timed_out' | 'canceled' | 'ambiguous' | 'queued' | 'denied' | 'held'
  >;
  backoff_ms: number;
  expires_in_ms?: number;
  outcome: string;
  result: SettledResult | null;
  error: string | null;
};

export type SettledResult = {
  success: boolean;
  payload: Json;
  code: number | null;
  declared_side_effects: SideEffect[];
  artifacts: Artifact[];
  facts: RunFacts | null;
  duration_ms: number;
  exit_code: number | null;
  truncated: boolean;
  input_hash: string;
  output_hash: string;
};

/**
 * Status and fencing token are in the WHERE clause: an attempt that was taken away (worker declared lost, canceled,
 * redriven) moves nothing and leaves no result. What would be tried again although its cancellation was asked for ends
 * here. The ids come once more as an array, so that the plan looks these rows up and no others, however small the tables
 * were when it was made; `held` is 'running', sent with each settlement for the same reason: written out, it makes the
 * planner expect one row and compare every settlement with every other. The payload travels as text: Postgres' JSON functions refuse \\u0000, its `json` type does not.
 */
const SETTLE: Statement = {
  name: 'settle-invocations',
  text: `
    WITH moved AS (
      UPDATE invocations i SET
        status = CASE WHEN s.status IN ('queued', 'held') AND i.cancel_requested_at IS NOT NULL THEN 'canceled' ELSE s.status END,
        available_at = CASE WHEN s.status = 'queued' AND i.cancel_requested_at IS NULL AND s.backoff_ms > 0
          THEN now() + s.backoff_ms * interval '1 millisecond' END,
        finished_at = CASE WHEN s.status NOT IN ('queued', 'held') OR i.cancel_requested_at IS NOT NULL THEN now() END,
        expires_at = CASE WHEN s.status = 'held' THEN now() + s.expires_in_ms * interval '1 millisecond' ELSE i.expires_at END,
        -- An attempt that its worker gave back at shutdown does not count towards max_attempts.
        first_attempt = i.first_attempt + (s.outcome = 'handed_back')::int
      FROM json_to_recordset($1::json) AS s (invocation_id text, attempt int, status text, backoff_ms bigint, expires_in_ms bigint,
        outcome text, error text, held text, success boolean, payload text, code int, declared_side_effects json, artifacts json, facts json,
        duration_ms float8, exit_code int, truncated boolean, input_hash text, output_hash text)
      WHERE i.invocation_id = ANY ($2) AND i.invocation_id = s.invocation_id AND i.attempt = s.attempt
        AND i.status = s.held
      RETURNING i.invocation_id, i.attempt, i.status, i.worker_id, i.started_at, i.run_id, i.expires_at, i.tenant, i.actor, s.outcome, s.error, s.success, s.payload, s.code,
        s.declared_side_effects, s.artifacts, s.facts, s.duration_ms, s.exit_code, s.truncated, s.input_hash, s.output_hash
    ), ended AS (
      INSERT INTO attempts (invocation_id, attempt, worker_id, started_at, outcome, error)
      SELECT invocation_id, attempt, worker_id, started_at, outcome, error FROM moved
    ), tallied AS (
      ${tally("SELECT run_id, 'running' AS was, status FROM moved WHERE run_id IS NOT NULL")}
    ), ${RETURN_HOLDS}, kept AS (
      INSERT INTO results (invocation_id, attempt, success, payload, error, code, declared_side_effects, artifacts,
        facts, duration_ms, exit_code, truncated, input_hash, output_hash)
      SELECT invocation_id, attempt, success, payload::json, error, code, declared_side_effects, artifacts,
        facts, duration_ms, exit_code, truncated, input_hash, output_hash
      FROM moved WHERE status IN ('succeeded', 'failed', 'timed_out', 'canceled') AND output_hash IS NOT NULL
    ), audited AS (${AUDIT_ENDS}
    )
    SELECT invocation_id, attempt, status,
      (SELECT count(${notify('signal')}) FROM unnest($3::text[]) AS signal)
    FROM moved`,
};

/** Marks attempts that were taken away, and answers those that had ended by a settlement of their own before. */
const REFUSE: Statement = {
  name: 'refuse-settlements',
  text: `
    WITH late AS (
      SELECT * FROM json_to_recordset($1::json) AS late (invocation_id text, attempt int, outcome text)
    ), refused AS (
      UPDATE attempts a SET ended_at = now(), outcome = 'refused', error = 'settled too late: ' || late.outcome
      FROM late WHERE a.invocation_id = late.invocation_id AND a.attempt = late.attempt
        AND a.outcome = 'lost'
    )
    SELECT a.invocation_id, a.attempt, i.status
    FROM late JOIN attempts a ON a.invocation_id = late.invocation_id AND a.attempt = late.attempt
      JOIN invocations i ON i.invocation_id = a.invocation_id
    WHERE a.outcome NOT IN ('lost', 'refused')`,
};

type Moved = { invocation_id: string; attempt: number; status: InvocationStatus };

/**
 * Answers for each settlement the status that the invocation has by it, or null when it was refused: such an attempt
 * stays on record. One that had been taken before is taken: it is sent again when the connection broke before the answer
 * came.
 */
export async function settleInvocations(
  store: Store,
  settlements: Settlement[],
  /** Sent to every process as the settlements are committed. */
  signals: string[] = [],
): Promise<({ status: InvocationStatus } | null)[]> {
  const settle = (query: Query) =>
    query<Moved>(SETTLE, [
      JSON.stringify(settlements.map(flat)),
      settlements.map((settlement) => settlement.invocation_id),
      signals,
    ]);
  const moved = settlements.some(({ status }) => status === 'denied')
    ? await store.transact(async (query) => auditDenials(query, await settle(query)))
    : await settle(store.query);
  const taken = byAttempt(moved);
  const left = settlements.filter((settlement) => !taken.has(nameOf(settlement)));
  const before = left.length > 0 ? byAttempt(await refuse(store, left)) : null;
  return settlements.map((settlement) => taken.get(nameOf(settlement)) ?? before?.get(nameOf(settlement)) ?? null);
}

const refuse = (store: Store, late: Settlement[]) =>
  store.query<Moved>(REFUSE, [
    JSON.stringify(late.map(({ invocation_id, attempt, outcome }) => ({ invocation_id, attempt, outcome }))),
  ]);

const flat = ({ result, ...settlement }: Settlement) =>
  result
    ? { ...settlement, held: 'running', ...result, payload: JSON.stringify(result.payload) }
    : { ...settlement, held: 'running' };

const nameOf = ({ invocation_id, attempt }: { invocation_id: string; attempt: number }) =>
  `${invocation_id} ${attempt}`;
const byAttempt = (rows: Moved[]) => new Map(rows.map((row) => [nameOf(row), row]));

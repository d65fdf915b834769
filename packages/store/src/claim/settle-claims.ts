import type { InvocationStatus } from '@capstan/contracts';
import { auditDenials } from '../audit/audit-denials.js';
import { AUDIT_ENDS } from '../audit/audit-ends.js';
import { inCommon } from '../in-common.js';
import type { Query, Statement, Store } from '../open-store.js';
import { tally } from '../run/tally.js';
import { notify } from '../signal/channel.js';
import { endAlike } from './end-alike.js';
import { stamped } from './ended-message.js';
import { returnCalls } from './return-calls.js';
import { ENDED_WITH_RESULT, isReturn, keptResult, type Settled, type Settlement } from './settlement.js';

const RARE = `), tallied AS (
      ${tally("SELECT run_id, 'running' AS was, status FROM moved WHERE run_id IS NOT NULL")}
    ), told AS (
      INSERT INTO ends_to_tell SELECT invocation_id FROM moved WHERE watched ON CONFLICT DO NOTHING
    `;

/**
 * Ends calls that are on receipts. The receipt is the fence: it is locked, or deleted with its last call, before a result is
 * written, and a receipt that was taken away (worker declared lost) has no calls to end. Behind it stands the primary key of
 * results. Endings of a batch differ in little, so what they have in common ($3) is sent and parsed once. Payloads travel as
 * text: Postgres' JSON functions refuse \\u0000, its `json` type does not.
 *
 * $1 receipts that this batch completes, $2 its other receipts, $3 what endings have in common, $4 ids, $5 receipts, $6 which
 * of $3, $7 payloads, $8 durations, $9 input hashes, $10 output hashes, $11 signals if all were written, $12 if not.
 *
 * `plain`: none of it is of a run, or watched. Parts that have nothing to do cost their share, too.
 */
const ending = (plain: boolean): Statement => ({
  name: plain ? 'end-calls-plain' : 'end-calls',
  text: `
    WITH completed AS (
      DELETE FROM claims WHERE claim_id = ANY ($1) RETURNING claim_id, ids, worker_id, owned_at
    ), locked AS (
      SELECT claim_id, ids, worker_id, owned_at FROM claims WHERE claim_id = ANY ($2) FOR UPDATE
    ), receipts AS (
      SELECT * FROM completed UNION ALL SELECT * FROM locked
    ), endings AS MATERIALIZED (
      SELECT e.*, c.*, r.worker_id, r.owned_at
      FROM unnest($4::text[], $5::text[], $6::int[], $7::text[], $8::float8[], $9::text[], $10::text[])
          AS e (invocation_id, claim_id, of, payload, duration_ms, input_hash, output_hash)
        JOIN receipts r ON r.claim_id = e.claim_id AND e.invocation_id = ANY (r.ids)
        JOIN json_to_recordset($3::json) AS c (common int, tenant text, actor text, run_id text, watched boolean, status text,
          outcome text, attempt int, first_attempt int, success boolean, error text, code int, declared_side_effects json,
          artifacts json, facts json, exit_code int, truncated boolean, audit json) ON c.common = e.of
    ), written AS (
      INSERT INTO results (invocation_id, status, outcome, attempt, first_attempt, worker_id, started_at, success, payload, error,
        code, declared_side_effects, artifacts, facts, duration_ms, exit_code, truncated, input_hash, output_hash)
      SELECT invocation_id, status, nullif(outcome, status), attempt, first_attempt, worker_id, owned_at, success, payload::json,
        error, code, declared_side_effects, artifacts, facts, duration_ms, exit_code, truncated, input_hash, output_hash
      FROM endings
      ON CONFLICT (invocation_id) DO NOTHING
      RETURNING invocation_id
    ), moved AS MATERIALIZED (
      -- Not a join: the planner expects one row, and would compare every ending with every other.
      SELECT * FROM endings WHERE (invocation_id IN (SELECT invocation_id FROM written)) IS TRUE
    ${plain ? '' : RARE}), audited AS (${AUDIT_ENDS}
    )
    SELECT invocation_id, attempt, status,
      (SELECT count(${notify('signal')}) FROM unnest(
        CASE WHEN (SELECT count(*) FROM written) = cardinality($4::text[]) THEN $11::text[] ELSE $12::text[] END) AS said,
        LATERAL (SELECT ${stamped('said')} AS signal) AS s)
    FROM moved`,
});
const END = ending(false);
const END_PLAIN = ending(true);

/** Marks attempts that were taken away, and answers those that had been settled by their own worker before. */
const REFUSE: Statement = {
  name: 'refuse-settlements',
  text: `
    WITH late AS (
      SELECT * FROM json_to_recordset($1::json) AS late (invocation_id text, attempt int, outcome text)
    ), refused AS (
      UPDATE attempts a SET ended_at = now(), outcome = 'refused', error = 'settled too late: ' || late.outcome
      FROM late WHERE a.invocation_id = late.invocation_id AND a.attempt = late.attempt AND a.outcome = 'lost'
    )
    SELECT late.invocation_id, late.attempt, s.status
    FROM late JOIN invocation_states s ON s.invocation_id = late.invocation_id
      LEFT JOIN attempts a ON a.invocation_id = late.invocation_id AND a.attempt = late.attempt
      LEFT JOIN results r ON r.invocation_id = late.invocation_id AND r.attempt = late.attempt AND r.worker_id IS NOT NULL
    WHERE CASE WHEN a.outcome IS NOT NULL THEN a.outcome NOT IN ('lost', 'refused') ELSE r.status IS NOT NULL END`,
};

type Moved = { invocation_id: string; attempt: number; status: InvocationStatus };

/** What rides on the statement, and tells whoever waits. */
export type EndSignals = {
  /** When every ending of the batch was written. */
  all: readonly string[];
  /** When some were refused. */
  some: readonly string[];
};

/**
 * Answers for each settlement the status that the invocation has by it, or null when it was refused: such an attempt stays on
 * record. One that was written before is taken: it is sent again when the connection broke before the answer came.
 * `completes` says whether a receipt has no other calls left.
 */
export async function settleClaims(
  store: Store,
  settlements: readonly Settlement[],
  completes: (claim_id: string) => boolean = () => false,
  signals: EndSignals = { all: [], some: [] },
): Promise<Settled[]> {
  const returns = settlements.filter(isReturn);
  const endings = settlements.filter((settlement) => !isReturn(settlement));
  const moved = [
    ...(returns.length > 0 ? await returnCalls(store, returns) : []),
    ...(endings.length > 0 ? await end(store, endings, completes, signals) : []),
  ];
  const taken = byAttempt(moved);
  const left = settlements.filter((settlement) => !taken.has(nameOf(settlement)));
  const before = left.length > 0 ? byAttempt(await refuse(store, left)) : null;
  return settlements.map((settlement) => taken.get(nameOf(settlement)) ?? before?.get(nameOf(settlement)) ?? null);
}

async function end(
  store: Store,
  endings: readonly Settlement[],
  completes: (claim_id: string) => boolean,
  signals: EndSignals,
): Promise<readonly Moved[]> {
  const claims = [...new Set(endings.map(({ claim_id }) => claim_id))];
  const kept = endings.map(keptResult);
  const { common, of, kinds } = inCommon(endings, commonOf);
  const watched = endings.some((ending) => ending.watched);
  if (
    kinds === 1 &&
    !watched &&
    claims.every(completes) &&
    endings.every(({ status }) => ENDED_WITH_RESULT.has(status))
  )
    if (await endAlike(store, endings, signals.all)) return endings;
  const values = [
    claims.filter(completes),
    claims.filter((claim_id) => !completes(claim_id)),
    common,
    endings.map((ending) => ending.invocation_id),
    endings.map((ending) => ending.claim_id),
    of,
    kept.map((result) => result && JSON.stringify(result.payload)),
    kept.map((result) => result?.duration_ms),
    kept.map((result) => result?.input_hash),
    kept.map((result) => result?.output_hash),
    signals.all,
    signals.some,
  ];
  const plain = !watched && endings.every(({ run_id }) => run_id === null);
  const settle = (query: Query) => query<Moved>(plain ? END_PLAIN : END, values);
  return endings.some(({ status }) => status === 'denied')
    ? store.transact(async (query) => auditDenials(query, await settle(query), rulesOf(endings)))
    : settle(store.query);
}

const rulesOf = (endings: readonly Settlement[]): Record<string, string> =>
  Object.fromEntries(endings.flatMap(({ invocation_id, rule }) => (rule === undefined ? [] : [[invocation_id, rule]])));

/** Everything but ids, payloads, hashes and times. */
const commonOf = (ending: Settlement): string => {
  const result = keptResult(ending);
  return JSON.stringify({
    tenant: ending.tenant,
    actor: ending.actor,
    run_id: ending.run_id ?? undefined,
    watched: ending.watched,
    status: ending.status,
    outcome: ending.outcome,
    attempt: ending.attempt,
    first_attempt: ending.first_attempt,
    error: ending.error ?? undefined,
    success: result?.success,
    code: result?.code ?? undefined,
    declared_side_effects: result?.declared_side_effects,
    artifacts: result?.artifacts,
    facts: result?.facts ?? undefined,
    exit_code: result?.exit_code ?? undefined,
    truncated: result?.truncated,
    audit: ending.audit,
  });
};

const refuse = (store: Store, late: readonly Settlement[]) =>
  store.query<Moved>(REFUSE, [
    JSON.stringify(late.map(({ invocation_id, attempt, outcome }) => ({ invocation_id, attempt, outcome }))),
  ]);

const nameOf = ({ invocation_id, attempt }: { invocation_id: string; attempt: number }) =>
  `${invocation_id} ${attempt}`;
const byAttempt = (rows: readonly Moved[]) => new Map(rows.map((row) => [nameOf(row), row]));

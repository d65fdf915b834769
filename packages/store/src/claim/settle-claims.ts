import type { InvocationStatus } from '@capstan/contracts';
import { auditDenials } from '../audit/audit-denials.js';
import { AUDIT_ENDS } from '../audit/audit-ends.js';
import { floatArray, textArray } from '../binary-array.js';
import { inCommon } from '../in-common.js';
import type { Query, Statement, Store } from '../open-store.js';
import { tally, tallyAlike } from '../run/tally.js';
import { notify } from '../signal/channel.js';
import { notifyEnded, splitEnded } from './ended-message.js';
import { returnCalls } from './return-calls.js';
import { ENDED_WITH_RESULT, isReturn, keptResult, type Settled, type Settlement } from './settlement.js';

const RARE = `), tallied AS (
      ${tally("SELECT run_id, 'running' AS was, status FROM moved WHERE run_id IS NOT NULL")}
    ), told AS (
      INSERT INTO ends_to_tell SELECT invocation_id FROM moved WHERE watched ON CONFLICT DO NOTHING
    `;

const IF_ALL = (all: string, some: string): string =>
  `(CASE WHEN (SELECT count(*) FROM written) = cardinality($4::text[]) THEN ${all} ELSE ${some} END)`;

/**
 * Ends calls that are on receipts. The receipt is the fence: it is locked, or deleted with its last call, before a result is
 * written, and a receipt that was taken away (worker declared lost) has no calls to end. The primary key of `results` is the
 * second line of defence. The endings of a batch differ little, so the columns they share ($3) are sent and parsed once.
 * Payloads are sent as text: Postgres' JSON functions reject \\u0000, its `json` type accepts it.
 *
 * $1 receipts that this batch completes, $2 its other receipts, $3 shared columns, $4 ids, $5 the receipt of each, $6 indexes into
 * $3, $7 payloads, $8 durations, $9 input hashes, $10 output hashes; $11 results and $12 other signals if all were written, $13
 * signals if not.
 *
 * `plain`: no call belongs to a run or is watched. Parts of a statement cost time even if they have nothing to do.
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
      (${notifyEnded(IF_ALL('$11::text[]', 'NULL'))}) AS told,
      (SELECT count(${notify('signal')}) FROM unnest(${IF_ALL('$12::text[]', '$13::text[]')}) AS signal)
    FROM moved`,
});
const END = ending(false);
const END_PLAIN = ending(true);

/** Marks late attempts as refused, and returns those that had already been settled by their own worker. */
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

/** Signals for waiting callers, sent by the statement. */
export type EndSignals = {
  /** If every end of the batch was written. */
  all: readonly string[];
  /** If some were refused. */
  some: readonly string[];
};

/**
 * Returns the new status of the invocation for each settlement, or null if it was refused; refused attempts stay on record. A
 * settlement that is already written succeeds: it is sent again if the connection broke before the response arrived.
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
  const { results, others } = splitEnded(signals.all);
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
    results,
    others,
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

/**
 * The fast path that most calls take: a batch of similar ends that completes its receipts. It omits every case that the general
 * statement handles (receipts taken away, existing results) and takes half the time. If a row is not written, it fails with a
 * division by zero, and the caller falls back to the general statement.
 *
 * $1 receipts, $2 ids, $3 the receipt of each, $4 payloads, $5 durations, $6 input hashes, $7 output hashes, $8 subject and $9
 * detail of the audit event, $10 signals; then the columns that all endings share; $25 results for waiting callers; $26 the run.
 */
const endingAlike = (of_run: boolean): Statement => ({
  name: of_run ? 'end-calls-alike-run' : 'end-calls-alike',
  text: `
    WITH completed AS (
      DELETE FROM claims WHERE claim_id = ANY ($1::text[]) RETURNING claim_id, ids, worker_id, owned_at
    ), written AS (
      INSERT INTO results (invocation_id, payload, duration_ms, input_hash, output_hash, worker_id, started_at, status, outcome,
        attempt, first_attempt, success, error, code, declared_side_effects, artifacts, facts, exit_code, truncated)
      SELECT e.invocation_id, e.payload::json, e.duration_ms, e.input_hash, e.output_hash, r.worker_id, r.owned_at, $13::text,
        nullif($14::text, $13::text), $15::int, $16::int, $17::boolean, $18::text, $19::int, $20::json, $21::json, $22::json,
        $23::int, $24::boolean
      FROM unnest($2::text[], $3::text[], $4::text[], $5::float8[], $6::text[], $7::text[])
          AS e (invocation_id, claim_id, payload, duration_ms, input_hash, output_hash)
        JOIN completed r ON r.claim_id = e.claim_id AND e.invocation_id = ANY (r.ids)
      RETURNING 1
    ), ${of_run ? `tallied AS (${tallyAlike('$26', '$13', 'cardinality($2::text[])')}), ` : ''}audited AS (
      INSERT INTO audit (tenant, actor, event, subject, detail) VALUES ($11, $12, 'invocation.end', $8, $9)
    )
    SELECT 1 / (SELECT (count(*) = cardinality($2::text[]))::int FROM written) AS written,
      (SELECT count(${notify('signal')}) FROM unnest($10::text[]) AS signal), (${notifyEnded('$25')}) AS told`,
});
const END_ALIKE = endingAlike(false);
const END_ALIKE_OF_RUN = endingAlike(true);

const REFUSED: ReadonlySet<unknown> = new Set(['22012', '23505']);

/** True if all were written; otherwise none was. `endings` may differ only in ids, payloads, hashes and durations. */
async function endAlike(
  store: Pick<Store, 'query'>,
  endings: readonly Settlement[],
  signals: readonly string[],
): Promise<boolean> {
  const [first] = endings;
  if (!first) return true;
  const kept = endings.map(keptResult);
  const [result] = kept;
  const { results, others } = splitEnded(signals);
  const values = [
    textArray([...new Set(endings.map(({ claim_id }) => claim_id))]),
    textArray(endings.map(({ invocation_id }) => invocation_id)),
    textArray(endings.map(({ claim_id }) => claim_id)),
    textArray(kept.map((one) => one && JSON.stringify(one.payload))),
    floatArray(kept.map((one) => one?.duration_ms)),
    textArray(kept.map((one) => one?.input_hash)),
    textArray(kept.map((one) => one?.output_hash)),
    first.run_id ?? leastOf(endings, first.invocation_id),
    ended(endings),
    textArray(others),
    first.tenant,
    first.actor,
    first.status,
    first.outcome,
    first.attempt,
    first.first_attempt,
    result?.success,
    first.error,
    result?.code,
    result && JSON.stringify(result.declared_side_effects),
    result && JSON.stringify(result.artifacts),
    result?.facts && JSON.stringify(result.facts),
    result?.exit_code,
    result?.truncated,
    textArray(results),
    ...(first.run_id === null ? [] : [first.run_id]),
  ];
  try {
    await store.query(first.run_id === null ? END_ALIKE : END_ALIKE_OF_RUN, values);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && REFUSED.has(error.code)) return false;
    throw error;
  }
}

const leastOf = (endings: readonly Settlement[], first: string): string =>
  endings.reduce((least, { invocation_id }) => (invocation_id < least ? invocation_id : least), first);

/** The same audit detail as AUDIT_ENDS writes. */
const ended = (endings: readonly Settlement[]): string =>
  `{"calls":{${endings
    .map((ending) => {
      const { duration_ms, exit_code } = keptResult(ending) ?? {};
      return `"${ending.invocation_id}":${JSON.stringify({ status: ending.status, duration_ms, exit_code: exit_code ?? undefined })}`;
    })
    .join()}}}`;

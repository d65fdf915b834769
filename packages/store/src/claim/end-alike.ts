import { floatArray, textArray } from '../binary-array.js';
import type { Statement, Store } from '../open-store.js';
import { tallyAlike } from '../run/tally.js';
import { notify } from '../signal/channel.js';
import { stamped } from './ended-message.js';
import { keptResult, type Settlement } from './settlement.js';

/**
 * Calls that end alike and with which their receipts end: the one that most calls pass through. Of the general statement it
 * leaves out everything that could turn out otherwise (receipts taken away, results that are there already), and takes
 * half the time. Where some are not written, it divides by zero, and the general one is used.
 *
 * $1 receipts, $2 ids, $3 the receipt of each, $4 payloads, $5 durations, $6 input hashes, $7 output hashes, $8 the audit's subject
 * and $9 its detail, $10 signals; then what the endings share, with their run at the end.
 */
const ending = (of_run: boolean): Statement => ({
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
    ), ${of_run ? `tallied AS (${tallyAlike('$25', '$13', 'cardinality($2::text[])')}), ` : ''}audited AS (
      INSERT INTO audit (tenant, actor, event, subject, detail) VALUES ($11, $12, 'invocation.end', $8, $9)
    )
    SELECT 1 / (SELECT (count(*) = cardinality($2::text[]))::int FROM written) AS written,
      (SELECT count(${notify('signal')}) FROM unnest($10::text[]) AS said, LATERAL (SELECT ${stamped('said')} AS signal) AS s)`,
});
const END_ALIKE = ending(false);
const END_ALIKE_OF_RUN = ending(true);

const REFUSED: ReadonlySet<unknown> = new Set(['22012', '23505']);

/** Whether all were written; if not, none was. All are alike but for ids, payloads, hashes and durations. */
export async function endAlike(
  store: Pick<Store, 'query'>,
  endings: readonly Settlement[],
  signals: readonly string[],
): Promise<boolean> {
  const [first] = endings;
  if (!first) return true;
  const kept = endings.map(keptResult);
  const [result] = kept;
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
    textArray(signals),
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

/** As AUDIT_ENDS has it. */
const ended = (endings: readonly Settlement[]): string =>
  `{"calls":{${endings
    .map((ending) => {
      const { duration_ms, exit_code } = keptResult(ending) ?? {};
      return `"${ending.invocation_id}":${JSON.stringify({ status: ending.status, duration_ms, exit_code: exit_code ?? undefined })}`;
    })
    .join()}}}`;

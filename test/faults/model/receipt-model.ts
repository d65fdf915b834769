import { cancelSteps, redeliverySteps, rescueSteps } from './coordinator-steps.js';
import type { Model } from './explore.js';
import { CALLS, FREE_CLERK, FREE_WORKER, type Receipt, receiptsOf, type State, type Variant } from './receipt-state.js';
import { workerSteps } from './worker-steps.js';

export const PROTOCOL = { rescue: 'two statements', settle: 'locks the receipt', own: 'if unowned' } as const;

/**
 * How workers take calls, settle them and are rescued, as the statements that reach Postgres.
 *
 *   take      DELETE FROM work … SKIP LOCKED, INSERT a receipt with the calls                one statement
 *   own       UPDATE the receipt SET owner WHERE owner IS NULL                               one statement, for each delivery of its job
 *   settle    SELECT the receipt FOR UPDATE; INSERT results of the calls that it still has, DELETE it with its last call
 *   rescue    DELETE the receipt; put back what may be repeated and has no result, end the rest
 *   cancel    DELETE FROM work, INSERT the result `canceled`                                 one statement
 *
 * A lease may end at any time, so a rescued worker may be dead, frozen or merely slow, and may still run and settle its calls.
 */
export function receiptModel(variant: Variant): Model<State> {
  const delivered = variant.begin === 'delivered';
  const receipt: Receipt = { owner: null, calls: CALLS, attempt: 1 };
  const waiting = Object.fromEntries(CALLS.map((call) => [`work/${call}`, { attempt: 0 }]));
  return {
    initial: {
      database: { rows: delivered ? { 'receipt/0': receipt } : waiting, locks: {} },
      workers: { 'worker 1': FREE_WORKER, 'worker 2': FREE_WORKER },
      rescuer: FREE_CLERK,
      canceler: FREE_CLERK,
      jobs: delivered ? ['receipt/0'] : [],
      redelivered: false,
      receipts_made: 1,
      effects: { a: 0, b: 0 },
    },
    steps: (state) => [
      ...Object.keys(state.workers).flatMap((name) => workerSteps(state, name, variant)),
      ...rescueSteps(state, variant),
      ...cancelSteps(state),
      ...redeliverySteps(state),
    ],
    violation: (state, final) => CALLS.map((call) => problemOf(state, call, final)).find((found) => found) ?? null,
  };
}

function problemOf({ database: { rows }, effects }: State, call: string, final: boolean): string | null {
  const result = rows[`result/${call}`];
  const waits = rows[`work/${call}`] !== undefined;
  const receipts = receiptsOf(rows).filter(([, { calls }]) => calls.includes(call)).length;
  if (result && waits) return `doubled: ${call} has ended and waits for a worker`;
  if (!result && (waits ? 1 : 0) + receipts > 1) return `doubled: ${call} was given out twice`;
  if (!result && !waits && receipts === 0) return `lost: ${call} is nowhere`;
  if (result?.status === 'succeeded' && !effects[call]) return `unexpected: ${call} succeeded and never ran`;
  if (call === 'b' && (effects[call] ?? 0) > 1) return 'doubled: b may not be repeated and ran twice';
  if (final && !result) return `stuck: nothing is left to do and ${call} has not ended`;
  return null;
}

import { hashJson } from '@capstan/integrity';
import type { SettledCall, SettledResult, Settlement } from '../claim/settlement.js';

type Given = Partial<Omit<Settlement, 'result'>> & { result?: Partial<SettledResult> };

/** The end of an attempt; a success unless told otherwise. */
export function newSettlement(claimed: SettledCall, { result, ...given }: Given = {}): Settlement {
  const status = given.status ?? 'succeeded';
  const { claim_id, invocation_id, attempt, first_attempt, tenant, actor, run_id, watched } = claimed;
  return {
    ...{ claim_id, invocation_id, attempt, first_attempt, tenant, actor, run_id, watched },
    status,
    backoff_ms: 0,
    outcome: status === 'queued' ? 'failed' : status,
    error: status === 'succeeded' ? null : `it is ${status}`,
    ...given,
    result: {
      success: status === 'succeeded',
      payload: { sum: 3 },
      code: null,
      declared_side_effects: [],
      artifacts: [],
      facts: null,
      duration_ms: 1.5,
      exit_code: null,
      truncated: false,
      input_hash: hashJson({ a: 1 }),
      output_hash: hashJson(result?.payload ?? { sum: 3 }),
      ...result,
    },
  };
}

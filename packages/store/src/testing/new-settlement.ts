import { hashJson } from '@capstan/integrity';
import type { Claimed } from '../invocation/claim-invocations.js';
import type { SettledResult, Settlement } from '../invocation/settle-invocations.js';

type Attempt = Pick<Claimed, 'invocation_id' | 'attempt'>;
type Given = Partial<Omit<Settlement, 'result'>> & { result?: Partial<SettledResult> };

/** The end of an attempt; a success unless told otherwise. */
export function newSettlement({ invocation_id, attempt }: Attempt, { result, ...given }: Given = {}): Settlement {
  const status = given.status ?? 'succeeded';
  return {
    invocation_id,
    attempt,
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

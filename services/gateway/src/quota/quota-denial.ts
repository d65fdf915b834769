import { type Decision, Failure } from '@capstan/contracts';
import { rateLimitReached, resetIn } from './rate-limit.js';

type Denied = { invocation_id: string; tool_id: string; decision: Decision };

export const isQuotaDenial = ({ decision }: Pick<Denied, 'decision'>): boolean => decision.code === 'QUOTA_EXCEEDED';

const MINUTE_S = 60;
const HOUR_S = 3600;

function inWords(seconds: number): string {
  if (seconds < 2 * MINUTE_S) return `${seconds} s`;
  return seconds < 2 * HOUR_S ? `${Math.ceil(seconds / MINUTE_S)} minutes` : `${Math.ceil(seconds / HOUR_S)} hours`;
}

/** 429 with Retry-After. */
export function quotaDenial({ invocation_id, tool_id, decision }: Denied): Failure {
  const [limit = '', ...words] = (decision.rule_matched ?? '').split(' ');
  const scope = words.join(' ');
  return new Failure('QUOTA_EXCEEDED', {
    detail: `${tool_id} exceeds a quota: ${decision.reason}.`,
    suggestion: `Try again in ${inWords(resetIn(limit))}, or ask for a larger quota.`,
    context: { invocation_id, scope, limit, decision },
    headers: rateLimitReached(scope, limit),
  });
}

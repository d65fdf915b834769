import { type Decision, Failure } from '@capstan/contracts';
import { rateLimitReached } from './rate-limit.js';

type Denied = { invocation_id: string; tool_id: string; decision: Decision };

export const isQuotaDenial = ({ decision }: Pick<Denied, 'decision'>): boolean => decision.code === 'QUOTA_EXCEEDED';

/** 429, with when to come back. */
export function quotaDenial({ invocation_id, tool_id, decision }: Denied): Failure {
  const [limit = '', ...words] = (decision.rule_matched ?? '').split(' ');
  const scope = words.join(' ');
  return new Failure('QUOTA_EXCEEDED', {
    detail: `${tool_id} cannot be taken: ${decision.reason}.`,
    context: { invocation_id, scope, limit, decision },
    headers: rateLimitReached(scope, limit),
  });
}

import { Failure } from '@capstan/contracts';
import { urlRefusal } from './check-url.js';
import type { EgressRules } from './egress-rules.js';
import { type Resolve, resolveChecked } from './resolve-checked.js';

/**
 * Why a request to this URL would be refused, its name resolved, or null. A name that cannot be resolved now is not
 * refused; whoever sends to it later is told then.
 */
export async function refusalOf(url: string, rules: EgressRules, resolve: Resolve): Promise<string | null> {
  const refusal = urlRefusal(url, rules);
  if (refusal !== null) return refusal;
  try {
    await resolveChecked(new URL(url).hostname, rules, resolve);
    return null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.kind === 'EGRESS_DENIED' ? error.message : null;
  }
}

import { Failure } from '@capstan/contracts';
import { urlRefusal } from './check-url.js';
import type { EgressRules } from './egress-rules.js';
import { type Resolve, resolveChecked } from './resolve-checked.js';

/**
 * Resolves the host of a URL and returns why a request to it would be refused, or null. A name that cannot be resolved is not
 * refused; the error appears when a request is sent.
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

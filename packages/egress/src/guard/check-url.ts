import { Failure } from '@capstan/contracts';
import type { EgressRules } from './egress-rules.js';
import { hostRefusal, refusingRule } from './host-refusal.js';

export const denied = (reason: string, rule: string, url?: string): Failure =>
  new Failure('EGRESS_DENIED', { detail: reason, context: { rule, ...(url !== undefined && { url }) } });

/** Returns why the rules refuse a URL before its host is resolved, or null. Pure. */
export function urlRefusal(url: string, rules: EgressRules): string | null {
  if (!URL.canParse(url)) return 'not a URL';
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    return `${parsed.protocol} is not allowed, only http: and https:`;
  if (parsed.username || parsed.password) return 'a URL must not contain credentials; send them in a header';
  return hostRefusal(parsed.hostname, rules);
}

function ruleOf(url: string, rules: EgressRules): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  return parsed && hostRefusal(parsed.hostname, rules) !== null ? refusingRule(parsed.hostname, rules) : 'invalid_url';
}

/** Parses a URL, or throws a `Failure` if the rules refuse it. */
export function checkUrl(url: string, rules: EgressRules): URL {
  const refusal = urlRefusal(url, rules);
  if (refusal) throw denied(refusal, ruleOf(url, rules), url);
  return new URL(url);
}

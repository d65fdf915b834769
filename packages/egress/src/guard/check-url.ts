import { Failure } from '@capstan/contracts';
import type { EgressRules } from './egress-rules.js';
import { hostRefusal } from './host-refusal.js';

export const denied = (reason: string, url?: string): Failure =>
  new Failure('EGRESS_DENIED', { detail: reason, ...(url !== undefined && { context: { url } }) });

/** Why the rules refuse a URL before its host is resolved, or null. Pure. */
export function urlRefusal(url: string, rules: EgressRules): string | null {
  if (!URL.canParse(url)) return 'this is not a URL';
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    return `${parsed.protocol} is not allowed, only http: and https:`;
  if (parsed.username || parsed.password) return 'a URL must not carry credentials; send them in a header';
  return hostRefusal(parsed.hostname, rules);
}

/** The parsed URL, or a Failure. */
export function checkUrl(url: string, rules: EgressRules): URL {
  const refusal = urlRefusal(url, rules);
  if (refusal) throw denied(refusal, url);
  return new URL(url);
}

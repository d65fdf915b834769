import { checkUrl, denied } from '../guard/check-url.js';
import type { EgressRules } from '../guard/egress-rules.js';
import { acrossOrigins, type HeaderValues, withoutBody } from './request-headers.js';

export type Hop = { url: URL; method: string; headers: HeaderValues; body: string | Uint8Array | null };

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** What a redirect asks for, checked like the first request; null when the answer is no redirect. */
export function nextHop(hop: Hop, status: number, location: string | undefined, rules: EgressRules): Hop | null {
  if (!REDIRECTS.has(status) || location === undefined) return null;
  if (!URL.canParse(location, hop.url.href))
    throw denied('a redirect leads to something that is not a URL', 'invalid_url', hop.url.href);
  const url = checkUrl(new URL(location, hop.url.href).href, rules);
  const headers = url.origin === hop.url.origin ? hop.headers : acrossOrigins(hop.headers);
  return becomesGet(status, hop.method)
    ? { url, method: 'GET', headers: withoutBody(headers), body: null }
    : { url, method: hop.method, headers, body: hop.body };
}

/** As browsers do it (the Fetch standard, HTTP-redirect fetch). */
const becomesGet = (status: number, method: string): boolean =>
  status === 303 ? method !== 'GET' && method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';

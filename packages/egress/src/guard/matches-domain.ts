import { canonicalHost } from '../address/canonical-host.js';

/** `example.com` matches only that name, `*.example.com` also everything below it, and `*` every name. */
export function matchesDomain(host: string, pattern: string): boolean {
  const name = canonicalHost(host);
  if (name === null) return false;
  if (pattern === '*') return true;
  const isTree = pattern.startsWith('*.');
  const base = canonicalHost(isTree ? pattern.slice(2) : pattern);
  return base !== null && (name === base || (isTree && name.endsWith(`.${base}`)));
}

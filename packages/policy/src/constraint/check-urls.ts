import type { Limits, ToolConstraints } from '@capstan/contracts';
import { canonicalHost, isDeniedAddress } from '@capstan/egress';
import { matchesDomain } from '../glob/domain-pattern.js';
import { type Check, type Refusal, refuse } from './constraint.js';
import { methodOf, urlsIn } from './read-inputs.js';

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:']);

/** What a URL says of itself. Where its name leads is looked at by who connects, on every redirect. */
export function checkDomains(constraints: ToolConstraints, { required }: { required: boolean }): Check | null {
  const { allow_domains, deny_domains = [], allow_methods, max_response_bytes } = constraints;
  const allow = allow_domains ?? (required ? [] : null);
  const methods = allow_methods?.map((method) => method.toUpperCase());
  if (!allow && deny_domains.length === 0 && !methods && max_response_bytes !== 0) return null;
  return ({ descriptor, inputs }) => {
    if (max_response_bytes === 0)
      return refuse('max_response_bytes', 'max_response_bytes is 0, so nothing may be fetched');
    const method = methodOf(descriptor, inputs);
    if (methods && !methods.includes(method)) return refuse('allow_methods', `the method ${method} is not allowed`);
    const urls = urlsIn(descriptor, inputs);
    if (required && urls.length === 0) return refuse('missing_argument', 'no URL is given');
    for (const url of urls) {
      const refusal = checkUrl(url, allow, deny_domains);
      if (refusal) return refusal;
    }
    return null;
  };
}

function checkUrl(url: string, allow: readonly string[] | null, deny: readonly string[]): Refusal | null {
  const host = hostOf(url);
  if (host === null) return refuse('invalid_url', `${JSON.stringify(url.slice(0, 200))} is not an http URL`);
  const denied = deny.find((domain) => matchesDomain(domain, host));
  if (denied !== undefined) return refuse(`deny_domains[${denied}]`, `${host} matches the deny pattern ${denied}`);
  if (allow === null) return null;
  if (allow.length === 0) return refuse('allow_domains=[]', 'no domain is allowed');
  return allow.some((domain) => matchesDomain(domain, host))
    ? null
    : refuse('allow_domains', `${host} is not in allow_domains (${allow.join(', ')})`);
}

/** What the limits say of connections, for tools that are told where to go. */
export function checkNetwork(limits: Pick<Limits, 'network' | 'deny_private_ips'>): Check {
  const { network, deny_private_ips = true } = limits;
  return ({ descriptor, inputs }) => {
    if (network === 'none') return refuse('network=none', 'no connection is allowed');
    for (const url of urlsIn(descriptor, inputs)) {
      const host = hostOf(url);
      if (host === null) continue;
      if (network && !network.some((domain) => matchesDomain(domain, host)))
        return refuse('network', `${host} is not among the domains that are allowed (${network.join(', ')})`);
      const why = deny_private_ips ? isDeniedAddress(host) : null;
      if (why) return refuse('deny_private_ips=true', why);
    }
    return null;
  };
}

/** Null for what is no URL of the web. */
function hostOf(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return SCHEMES.has(url.protocol) ? canonicalHost(url.hostname) : null;
}

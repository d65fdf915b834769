import type { Limits, ToolConstraints } from '@capstan/contracts';
import { canonicalHost, isDeniedAddress } from '@capstan/egress';
import { compileDomains, type FindDomain } from '../glob/domain-pattern.js';
import { type Check, type Refusal, refuse } from './constraint.js';
import { methodOf, urlsIn } from './read-inputs.js';

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:']);

/** Checks URLs as text. The address that a name resolves to is checked when the connection is opened, on every redirect. */
export function checkDomains(constraints: ToolConstraints, { required }: { required: boolean }): Check | null {
  const { allow_domains, deny_domains = [], allow_methods, max_response_bytes } = constraints;
  const allow = allow_domains ?? (required ? [] : null);
  const methods = allow_methods?.map((method) => method.toUpperCase());
  if (!allow && deny_domains.length === 0 && !methods && max_response_bytes !== 0) return null;
  const lists = {
    allow: allow && shown(allow),
    isAllowed: compileDomains(allow ?? []),
    isDenied: compileDomains(deny_domains),
  };
  return ({ descriptor, inputs }) => {
    if (max_response_bytes === 0)
      return refuse('max_response_bytes', 'max_response_bytes is 0, so nothing may be fetched');
    const method = methodOf(descriptor, inputs);
    if (methods && !methods.includes(method)) return refuse('allow_methods', `the method ${method} is not allowed`);
    const urls = urlsIn(descriptor, inputs);
    if (required && urls.length === 0) return refuse('missing_argument', 'no URL is given');
    for (const url of urls) {
      const refusal = checkUrl(url, lists);
      if (refusal) return refusal;
    }
    return null;
  };
}

type Lists = { allow: string | null; isAllowed: FindDomain; isDenied: FindDomain };

function checkUrl(url: string, { allow, isAllowed, isDenied }: Lists): Refusal | null {
  const host = hostOf(url);
  if (host === null) return refuse('invalid_url', `${JSON.stringify(url.slice(0, 200))} is not an http URL`);
  const denied = isDenied(host);
  if (denied !== undefined) return refuse(`deny_domains[${denied}]`, `${host} matches the deny pattern ${denied}`);
  if (allow === null) return null;
  if (allow === '') return refuse('allow_domains=[]', 'no domain is allowed');
  return isAllowed(host) !== undefined ? null : refuse('allow_domains', `${host} is not in allow_domains (${allow})`);
}

/** Checks connections against the limits, for tools whose inputs say where to connect. */
export function checkNetwork(limits: Pick<Limits, 'network' | 'deny_private_ips'>): Check {
  const { network, deny_private_ips = true } = limits;
  const allowed = Array.isArray(network) ? { list: shown(network), find: compileDomains(network) } : null;
  return ({ descriptor, inputs }) => {
    if (network === 'none') return refuse('network=none', 'no connection is allowed');
    for (const url of urlsIn(descriptor, inputs)) {
      const host = hostOf(url);
      if (host === null) continue;
      if (allowed && allowed.find(host) === undefined)
        return refuse('network', `${host} is not among the domains that are allowed (${allowed.list})`);
      const why = deny_private_ips ? isDeniedAddress(host) : null;
      if (why) return refuse('deny_private_ips=true', why);
    }
    return null;
  };
}

const SHOWN = 10;
const shown = (domains: readonly string[]): string =>
  [...domains.slice(0, SHOWN), ...(domains.length > SHOWN ? [`${domains.length - SHOWN} more`] : [])].join(', ');

/** The host of an http or https URL; null for anything else. */
function hostOf(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return SCHEMES.has(url.protocol) ? canonicalHost(url.hostname) : null;
}

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Failure } from '@capstan/contracts';
import { canonicalHost } from '../address/canonical-host.js';
import { denied } from './check-url.js';
import type { EgressRules } from './egress-rules.js';
import { addressRefusal, hostRefusal, PRIVATE, refusingRule } from './host-refusal.js';
import { within } from './within.js';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** As the system does it, /etc/hosts included. */
export const systemResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/** A resolver that does not answer must not hold a run. */
const RESOLVE_TIMEOUT_MS = 10_000;

/**
 * The addresses to dial, each of them checked. One that is denied refuses them all: a name with a public and a private
 * address is an attempt at getting past the check, or a mistake.
 */
export async function resolveChecked(host: string, rules: EgressRules, resolve: Resolve): Promise<string[]> {
  const refusal = hostRefusal(host, rules);
  if (refusal) throw denied(refusal, refusingRule(host, rules));
  const name = canonicalHost(host);
  if (name === null) throw denied(`${host} is not a valid host`, 'invalid_url');
  if (isIP(name)) return [name];
  const addresses = await resolved(name, resolve);
  for (const address of addresses) {
    const why = isIP(address) ? addressRefusal(address, rules) : `${address} is not an address`;
    if (why) throw denied(`${name} resolves to an address that is refused: ${why}`, PRIVATE);
  }
  return addresses;
}

async function resolved(name: string, resolve: Resolve): Promise<string[]> {
  try {
    const addresses = await within(resolve(name), RESOLVE_TIMEOUT_MS, 'the resolver did not answer');
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    throw unresolved(name, cause);
  }
  throw unresolved(name);
}

const unresolved = (name: string, cause?: unknown) =>
  new Failure('EGRESS_FAILED', {
    detail: `${name} could not be resolved${cause instanceof Error ? `: ${cause.message}` : ''}`,
    cause,
    context: { phase: 'resolve' },
  });

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Failure } from '@capstan/contracts';
import { canonicalHost } from '../address/canonical-host.js';
import { denied } from './check-url.js';
import type { EgressRules } from './egress-rules.js';
import { addressRefusal, hostRefusal, PRIVATE, refusingRule } from './host-refusal.js';

/** Returns all addresses of a name. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** The resolver of the system, which includes /etc/hosts. */
export const systemResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/** A resolver that does not answer must not block a call. */
const RESOLVE_TIMEOUT_MS = 10_000;

/**
 * Resolves a host and checks every address. One denied address refuses the host: a name with both a public and a private address is
 * an attempt to bypass the check, or a mistake.
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

/** Rejects if the promise takes longer than the timeout. A later result is dropped. */
function within<T>(promise: Promise<T>, timeout_ms: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(message)), timeout_ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

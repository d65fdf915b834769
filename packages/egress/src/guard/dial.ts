import { once } from 'node:events';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { Failure } from '@capstan/contracts';
import type { EgressRules } from './egress-rules.js';
import { type Resolve, resolveChecked } from './resolve-checked.js';

export type DialOptions = { rules: EgressRules; resolve: Resolve; timeout_ms?: number; signal?: AbortSignal };

const CONNECT_TIMEOUT_MS = 10_000;

/** Opens a TCP connection to a checked address. No socket exists before the check has passed. */
export async function dial(host: string, port: number, options: DialOptions): Promise<Socket> {
  const { rules, resolve, timeout_ms = CONNECT_TIMEOUT_MS, signal } = options;
  const addresses = await resolveChecked(host, rules, resolve);
  signal?.throwIfAborted();
  const socket = connect({ port, noDelay: true, keepAlive: true, ...target(addresses) });
  const late = AbortSignal.timeout(timeout_ms);
  try {
    await once(socket, 'connect', { signal: signal ? AbortSignal.any([signal, late]) : late });
    return socket;
  } catch (error) {
    // Ignore errors that follow.
    socket.on('error', () => {}).destroy();
    signal?.throwIfAborted();
    throw unreachable(host, port, late.aborted ? `no connection within ${timeout_ms} ms` : reasonOf(error), error);
  }
}

/** Lets Node try several addresses, with a head start for the first. The lookup returns only checked addresses. */
function target(addresses: string[]): { host: string; lookup?: LookupFunction; autoSelectFamily?: boolean } {
  const [only] = addresses;
  if (addresses.length === 1 && only !== undefined) return { host: only };
  const checked = addresses.map((address) => ({ address, family: isIP(address) }));
  return {
    host: 'checked.invalid',
    autoSelectFamily: true,
    lookup: (_hostname, _options, callback) => callback(null, checked),
  };
}

const unreachable = (host: string, port: number, reason: string, cause: unknown) =>
  new Failure('EGRESS_FAILED', {
    detail: `${host}:${port} could not be reached: ${reason}`,
    cause,
    context: { phase: 'connect' },
  });

/** If several addresses failed, Node throws an AggregateError without a message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

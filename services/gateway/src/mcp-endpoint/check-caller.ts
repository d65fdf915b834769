import { Failure } from '@capstan/contracts';
import { canonicalHost, matchesDomain } from '@capstan/egress';
import type { FastifyRequest } from 'fastify';

export type CallerRules = {
  /** The address the gateway listens on. */
  host: string;
  /** The URL under which people reach the gateway, if configured. */
  public_url?: string | undefined;
  /** Further host names of the gateway; `*.example.com` covers all subdomains. */
  allowed_hosts?: readonly string[] | undefined;
  /** Further web origins that may call it. */
  allowed_origins?: readonly string[] | undefined;
};

/** Throws a Failure if the request may come from a foreign web page. */
export type CheckCaller = (request: FastifyRequest) => void;

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/**
 * Stops DNS rebinding: a web page whose own name was pointed at this gateway looks same-origin to the browser, but its Host
 * and Origin headers still carry that name. Clients that are not browsers send no Origin.
 */
export function createCallerCheck(rules: CallerRules): CheckCaller {
  const public_url = rules.public_url === undefined ? null : new URL(rules.public_url);
  const hosts = [...LOOPBACK, rules.host, ...(public_url ? [public_url.hostname] : []), ...(rules.allowed_hosts ?? [])];
  const origins = new Set([public_url?.origin, ...(rules.allowed_origins ?? []).map(originOf)]);
  const isOwnHost = (host: string, local: string | undefined) =>
    hosts.some((pattern) => matchesDomain(host, pattern)) || (local !== undefined && matchesDomain(host, local));
  return ({ headers: { host, origin }, socket: { localAddress } }) => {
    const local = localAddress?.replace(/^::ffff:(?=\d+\.)/, '');
    const name = hostnameOf(host);
    if (name === null || !isOwnHost(name, local)) throw hostRefused(host);
    if (origin === undefined || origins.has(origin) || isOwnOrigin(origin, host)) return;
    throw originRefused(origin);
  };
}

const originOf = (origin: string): string => new URL(origin).origin;

/** The host of a Host header; null if the header is missing or invalid. */
function hostnameOf(host: string | undefined): string | null {
  if (host === undefined || !/^[^/\\?#@\s]+$/.test(host) || !URL.canParse(`http://${host}`)) return null;
  return canonicalHost(new URL(`http://${host}`).hostname);
}

/** True for pages of the gateway itself and pages served by this machine. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.origin !== origin) return false;
  return url.host === host?.toLowerCase() || LOOPBACK.some((name) => matchesDomain(url.hostname, name));
}

const hostRefused = (host: string | undefined): Failure =>
  new Failure('CALLER_REFUSED', {
    detail: `The Host ${JSON.stringify(host ?? '')} is not a name of this gateway.`,
    suggestion: 'Call it by its own address, or add the name to CAPSTAN_ALLOWED_HOSTS on the gateway.',
  });

const originRefused = (origin: string): Failure =>
  new Failure('CALLER_REFUSED', {
    detail: `Pages of ${JSON.stringify(origin)} may not call this endpoint.`,
    suggestion: 'Add the origin to CAPSTAN_ALLOWED_ORIGINS on the gateway if you trust it.',
  });

import { Failure, type Principal } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import type { Store } from '@capstan/store';
import { findPrincipal } from '@capstan/store/key';
import { findLogin } from '@capstan/store/login';
import { parseCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import type { Oidc } from '../login/oidc.js';
import type { CheckOrigin } from './same-origin.js';

type Sent = Pick<FastifyRequest, 'headers' | 'method'>;

export type Authenticator = {
  /**
   * Authenticates a request by its key, by a token of the identity provider, or by the cookie of a login. `audiences`: audiences of tokens that are
   * accepted here besides the configured one.
   */
  authenticate(request: Sent, audiences?: readonly string[]): Promise<Principal> | Principal;
  /** Authenticates a key that was sent in another way. */
  byKey(secret: string): Promise<Principal> | Principal;
  /** Call it after a key was deleted or a login ended. Other gateways learn about it by signal. */
  forget(): void;
};

export const SESSION_COOKIE = 'capstan_session';

/** A deleted key is removed from the cache by signal, and after this time if the signal was lost. */
const CACHE_MS = 10_000;
const MAX_CACHED = 10_000;
/** Methods that change nothing, so the origin of a request with a cookie need not be checked. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Three parts of base64url, the first of which begins with `{"`. Capstan's own keys contain no dots. */
const JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

type Find = () => Promise<Principal>;

export function createAuthenticator(
  store: Store,
  relay: Relay,
  checkOrigin: CheckOrigin,
  oidc: Pick<Oidc, 'byToken' | 'audience'> | null,
): Authenticator {
  const cache = new Map<string, { principal: Principal; until: number }>();
  let changes = 0;
  const forget = () => {
    changes += 1;
    cache.clear();
  };
  relay.subscribe('refresh', (what) => what.includes('keys') && forget(), forget);
  const lookUp = async (key: string, find: Find): Promise<Principal> => {
    const before = changes;
    const principal = await find();
    if (cache.size >= MAX_CACHED) cache.clear();
    const left = principal.expires_at === undefined ? CACHE_MS : Date.parse(principal.expires_at) - Date.now();
    // Not cached if a key was deleted while it was read.
    if (before === changes) cache.set(key, { principal, until: performance.now() + Math.min(CACHE_MS, left) });
    return principal;
  };
  const cachedOr = (key: string, find: Find) => {
    const cached = cache.get(key);
    return cached && cached.until > performance.now() ? cached.principal : lookUp(key, find);
  };
  const findKey = async (secret: string) => {
    const principal = await findPrincipal(store.db, secret);
    if (!principal) throw unauthenticated('The key is not known.');
    return principal;
  };
  const findSession = async (secret: string) => {
    const principal = await findLogin(store.db, secret);
    if (!principal) throw unauthenticated('The login has ended.', 'Log in again.');
    return principal;
  };
  const byKey = (secret: string) => cachedOr(secret, () => findKey(secret));
  const byBearer = (sent: string, more: readonly string[]) => {
    const audiences = [...(oidc?.audience === undefined ? [] : [oidc.audience]), ...more];
    if (!oidc || audiences.length === 0 || !JWT.test(sent)) return byKey(sent);
    // The audiences are part of the cache key, because a token may be valid at one route and not at another.
    return cachedOr(JSON.stringify([sent, audiences]), () => oidc.byToken(sent, audiences));
  };
  return {
    forget,
    byKey,
    authenticate: (request, audiences = []) => {
      const { authorization } = request.headers;
      const session = authorization === undefined ? sessionOf(request) : undefined;
      if (session === undefined) return byBearer(bearer(authorization), audiences);
      // Browsers send the cookie with requests from any page, so requests that change something must come from a page of this gateway.
      if (!SAFE_METHODS.has(request.method)) checkOrigin(request);
      return cachedOr(session, () => findSession(session));
    },
  };
}

export const sessionOf = ({ headers: { cookie } }: Pick<FastifyRequest, 'headers'>): string | undefined =>
  cookie === undefined ? undefined : parseCookie(cookie)[SESSION_COOKIE] || undefined;

function bearer(authorization: string | undefined): string {
  if (authorization === undefined) throw unauthenticated('No key was sent.');
  const match = /^Bearer +(\S+)$/i.exec(authorization);
  if (!match?.[1]) throw unauthenticated('The Authorization header holds no Bearer key.');
  return match[1];
}

const unauthenticated = (detail: string, suggestion?: string) =>
  new Failure('UNAUTHENTICATED', {
    detail,
    ...(suggestion === undefined ? {} : { suggestion }),
    headers: { 'www-authenticate': 'Bearer realm="capstan"' },
  });

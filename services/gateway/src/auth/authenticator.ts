import { Failure, type Principal } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import { findLogin, findPrincipal, type Store } from '@capstan/store';
import { parseCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import type { Oidc } from '../login/oidc.js';
import type { CheckOrigin } from './same-origin.js';

type Sent = Pick<FastifyRequest, 'headers' | 'method'>;

export type Authenticator = {
  /** Who sent a request: by its key, by a token of the identity provider, or by the cookie of a login. */
  authenticate(request: Sent): Promise<Principal> | Principal;
  /** The same of a key that came in another way. */
  byKey(secret: string): Promise<Principal> | Principal;
  /** After a key was deleted or a login ended: the signal tells the other gateways, and comes back here a moment later. */
  forget(): void;
};

export const SESSION_COOKIE = 'capstan_session';

/** A deleted key is forgotten at once by signal, and after this long should the signal be lost. */
const CACHE_MS = 10_000;
const MAX_CACHED = 10_000;
/** What a cookie cannot be used for from a page of somebody else. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Three parts of base64url, the first of which begins with `{"`. No key that Capstan makes has a dot. */
const JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

type Find = (secret: string) => Promise<Principal>;

export function createAuthenticator(
  store: Store,
  relay: Relay,
  checkOrigin: CheckOrigin,
  oidc: Pick<Oidc, 'byToken'> | null,
): Authenticator {
  const cache = new Map<string, { principal: Principal; until: number }>();
  let changes = 0;
  const forget = () => {
    changes += 1;
    cache.clear();
  };
  relay.subscribe('refresh', (what) => what.includes('keys') && forget(), forget);
  const lookUp = async (secret: string, find: Find): Promise<Principal> => {
    const before = changes;
    const principal = await find(secret);
    if (cache.size >= MAX_CACHED) cache.clear();
    const left = principal.expires_at === undefined ? CACHE_MS : Date.parse(principal.expires_at) - Date.now();
    // What was read before a key was deleted is not kept after it.
    if (before === changes) cache.set(secret, { principal, until: performance.now() + Math.min(CACHE_MS, left) });
    return principal;
  };
  const cachedOr = (secret: string, find: Find) => {
    const cached = cache.get(secret);
    return cached && cached.until > performance.now() ? cached.principal : lookUp(secret, find);
  };
  const findKey: Find = async (secret) => {
    const principal = await findPrincipal(store.db, secret);
    if (!principal) throw unauthenticated('The key is not known.');
    return principal;
  };
  const findSession: Find = async (secret) => {
    const principal = await findLogin(store.db, secret);
    if (!principal) throw unauthenticated('The login has ended.', 'Log in again.');
    return principal;
  };
  const byKey = (secret: string) => cachedOr(secret, findKey);
  const byToken = oidc?.byToken ?? null;
  const byBearer = (sent: string) => (byToken && JWT.test(sent) ? cachedOr(sent, byToken) : byKey(sent));
  return {
    forget,
    byKey,
    authenticate: (request) => {
      const { authorization } = request.headers;
      const session = authorization === undefined ? sessionOf(request) : undefined;
      if (session === undefined) return byBearer(bearer(authorization));
      // A browser sends the cookie whoever wrote the page, so that what changes something has to come from our own.
      if (!SAFE_METHODS.has(request.method)) checkOrigin(request);
      return cachedOr(session, findSession);
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

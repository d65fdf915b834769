import { Failure, type Principal } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import { findPrincipal, type Store } from '@capstan/store';

export type Authenticator = { authenticate(authorization: string | undefined): Promise<Principal> | Principal };

/** A deleted key is forgotten at once by signal, and after this long should the signal be lost. */
const CACHE_MS = 10_000;
const MAX_CACHED = 10_000;

export function createAuthenticator(store: Store, relay: Relay): Authenticator {
  const cache = new Map<string, { principal: Principal; until: number }>();
  relay.subscribe('refresh', (what) => {
    if (what.includes('keys')) cache.clear();
  });
  const lookUp = async (secret: string): Promise<Principal> => {
    const principal = await findPrincipal(store.db, secret);
    if (!principal) throw unauthenticated('The key is not known.');
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(secret, { principal, until: performance.now() + CACHE_MS });
    return principal;
  };
  return {
    authenticate: (authorization) => {
      const secret = bearer(authorization);
      const cached = cache.get(secret);
      return cached && cached.until > performance.now() ? cached.principal : lookUp(secret);
    },
  };
}

function bearer(authorization: string | undefined): string {
  if (authorization === undefined) throw unauthenticated('No key was sent.');
  const match = /^Bearer +(\S+)$/i.exec(authorization);
  if (!match?.[1]) throw unauthenticated('The Authorization header holds no Bearer key.');
  return match[1];
}

const unauthenticated = (detail: string) =>
  new Failure('UNAUTHENTICATED', { detail, headers: { 'www-authenticate': 'Bearer realm="capstan"' } });

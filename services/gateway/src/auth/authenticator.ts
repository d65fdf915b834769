import { Failure, type Principal } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import { findPrincipal, type Store } from '@capstan/store';

export type Authenticator = {
  authenticate(authorization: string | undefined): Promise<Principal> | Principal;
  /** After a key was deleted: the signal tells the other gateways, and comes back here a moment later. */
  forget(): void;
};

/** A deleted key is forgotten at once by signal, and after this long should the signal be lost. */
const CACHE_MS = 10_000;
const MAX_CACHED = 10_000;

export function createAuthenticator(store: Store, relay: Relay): Authenticator {
  const cache = new Map<string, { principal: Principal; until: number }>();
  let changes = 0;
  const forget = () => {
    changes += 1;
    cache.clear();
  };
  relay.subscribe('refresh', (what) => what.includes('keys') && forget(), forget);
  const lookUp = async (secret: string): Promise<Principal> => {
    const before = changes;
    const principal = await findPrincipal(store.db, secret);
    if (!principal) throw unauthenticated('The key is not known.');
    if (cache.size >= MAX_CACHED) cache.clear();
    // What was read before a key was deleted is not kept after it.
    if (before === changes) cache.set(secret, { principal, until: performance.now() + CACHE_MS });
    return principal;
  };
  return {
    forget,
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

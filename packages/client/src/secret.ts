import type { NewSecret, Secret } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type SecretScope = { /** Another tenant than the key's; for admins of the default tenant. */ tenant?: string };

export type Secrets = {
  /** Adds or replaces; lists that are left out stay. No answer ever has the value. */
  put(name: string, secret: string | NewSecret, scope?: SecretScope): Promise<Secret>;
  list(options?: PageOptions & SecretScope): Listing<Secret>;
  delete(name: string, scope?: SecretScope): Promise<void>;
  /** Encrypts everything with the first key that the gateway has. */
  rewrap(): Promise<{ rewrapped: number }>;
};

const pathOf = (name: string): string => `/v1/secrets/${encodeURIComponent(name)}`;

export const secrets = (transport: Transport): Secrets => ({
  put: (name, secret, scope = {}) => {
    const body = typeof secret === 'string' ? { value: secret } : secret;
    return transport.json('PUT', pathOf(name), { body, query: { ...scope } });
  },
  list: (options = {}) => listFrom(transport, '/v1/secrets', { ...options }),
  delete: (name, scope = {}) => transport.json('DELETE', pathOf(name), { query: { ...scope } }),
  rewrap: () => transport.json('POST', '/v1/secrets/rewrap', { body: {} }),
});

import type { NewSecret, Secret } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type SecretScope = { /** A tenant other than the key's, for admins of the default tenant. */ tenant?: string };

export type Secrets = {
  /** Adds or replaces a secret. Omitted lists stay unchanged. No response ever contains the value. */
  put(name: string, secret: string | NewSecret, scope?: SecretScope): Promise<Secret>;
  list(options?: PageOptions & SecretScope): Listing<Secret>;
  delete(name: string, scope?: SecretScope): Promise<void>;
  /** Re-encrypts all secrets with the gateway's first key. */
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

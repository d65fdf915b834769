import type { Key, NewKey } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type Keys = {
  /** Creates a key. Only this response contains the key itself. */
  create(key: NewKey): Promise<Key & { key: string }>;
  list(options?: PageOptions): Listing<Key>;
  delete(key_id: string): Promise<void>;
};

export const keys = (transport: Transport): Keys => ({
  create: (key) => transport.json('POST', '/v1/keys', { body: key }),
  list: (options = {}) => listFrom(transport, '/v1/keys', { ...options }),
  delete: (key_id) => transport.json('DELETE', `/v1/keys/${encodeURIComponent(key_id)}`),
});

import type { NewRetention, Retention } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type Retentions = {
  /** Adds or replaces the retention of a tenant. Older data is removed at once. */
  set(tenant: string, retention: NewRetention): Promise<Retention>;
  get(tenant: string): Promise<Retention>;
  /** Lists the tenants with settings of their own. */
  list(options?: PageOptions): Listing<Retention>;
  remove(tenant: string): Promise<void>;
};

export const retentions = (transport: Transport): Retentions => {
  const at = (tenant: string): string => `/v1/retention/${encodeURIComponent(tenant)}`;
  return {
    set: (tenant, retention) => transport.json('PUT', at(tenant), { body: retention }),
    get: (tenant) => transport.json('GET', at(tenant)),
    list: (options = {}) => listFrom(transport, '/v1/retention', { ...options }),
    remove: (tenant) => transport.json('DELETE', at(tenant)),
  };
};

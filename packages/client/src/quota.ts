import type { NewQuotaInput, Quota, QuotaUsage } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type Quotas = {
  /** Adds or replaces a quota. */
  set(scope: string, quota: NewQuotaInput): Promise<Quota>;
  get(scope: string): Promise<Quota>;
  list(options?: PageOptions): Listing<Quota>;
  /** Usage, counted at the time of the request. */
  usage(options?: PageOptions): Listing<QuotaUsage>;
  remove(scope: string): Promise<void>;
};

export const quotas = (transport: Transport): Quotas => {
  const at = (scope: string): string => `/v1/quotas/${encodeURIComponent(scope)}`;
  return {
    set: (scope, quota) => transport.json('PUT', at(scope), { body: quota }),
    get: (scope) => transport.json('GET', at(scope)),
    list: (options = {}) => listFrom(transport, '/v1/quotas', { ...options }),
    usage: (options = {}) => listFrom(transport, '/v1/quotas/usage', { ...options }),
    remove: (scope) => transport.json('DELETE', at(scope)),
  };
};

import type { Run } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type Runs = {
  get(run_id: string, options?: { signal?: AbortSignal | undefined }): Promise<Run>;
  list(options?: PageOptions): Listing<Run>;
};

export const runs = (transport: Transport): Runs => ({
  get: (run_id, { signal } = {}) => transport.json('GET', `/v1/runs/${encodeURIComponent(run_id)}`, { signal }),
  list: (options = {}) => listFrom(transport, '/v1/runs', { ...options }),
});

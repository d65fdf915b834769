import type { Capability } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing } from './listing.js';
import type { Transport } from './transport.js';

export type Capabilities = {
  get(id: string): Promise<Capability>;
  list(): Listing<Capability>;
};

export const capabilities = (transport: Transport): Capabilities => ({
  get: (id) => transport.json('GET', `/v1/capabilities/${encodeURIComponent(id)}`),
  list: () => listFrom(transport, '/v1/capabilities', {}),
});

import type { WorkerInfo } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing } from './listing.js';
import type { Transport } from './transport.js';

export type Workers = { list(): Listing<WorkerInfo> };

export const workers = (transport: Transport): Workers => ({ list: () => listFrom(transport, '/v1/workers', {}) });

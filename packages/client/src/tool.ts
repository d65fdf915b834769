import type { Descriptor, Risk, RunnerType, SideEffect, ToolSource } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type ToolQuery = {
  q?: string | undefined;
  source?: ToolSource | undefined;
  runner?: RunnerType | undefined;
  risk_max?: Risk | undefined;
  exclude_side_effects?: SideEffect[] | undefined;
  trust_min?: string | undefined;
};

export type Tools = {
  get(tool_id: string): Promise<Descriptor>;
  list(filter?: ToolQuery & PageOptions): Listing<Descriptor>;
};

export const tools = (transport: Transport): Tools => ({
  get: (tool_id) => transport.json('GET', `/v1/tools/${encodeURIComponent(tool_id)}`),
  list: (filter = {}) => listFrom(transport, '/v1/tools', { ...filter }),
});

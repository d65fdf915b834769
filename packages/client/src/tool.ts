import type { CatalogSource, Risk, RunnerType, SideEffect, Tool, ToolSource, Trust } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type ToolQuery = {
  /** Words to look for; the best match comes first. */
  q?: string | undefined;
  source?: ToolSource | ToolSource[] | undefined;
  runner?: RunnerType | RunnerType[] | undefined;
  risk_max?: Risk | undefined;
  exclude_side_effects?: SideEffect[] | undefined;
  trust_min?: Trust | undefined;
  /** Those that can be called by default; `false` for those that are switched off, or `any`. */
  enabled?: boolean | 'any' | undefined;
};

export type Tools = {
  /** `unavailable` says why it cannot be called, when it cannot. */
  get(tool_id: string): Promise<Tool & { unavailable: string | null }>;
  list(filter?: ToolQuery & PageOptions): Listing<Tool>;
  /** Has every process look again at what tools there are. */
  refresh(): Promise<{ tools: number; sources: CatalogSource[] }>;
};

export const tools = (transport: Transport): Tools => ({
  get: (tool_id) => transport.json('GET', `/v1/tools/${encodeURIComponent(tool_id)}`),
  list: (filter = {}) => listFrom(transport, '/v1/tools', { ...filter }),
  refresh: () => transport.json('POST', '/v1/tools/refresh'),
});

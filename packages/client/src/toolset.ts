import type { NewToolsetInput, Toolset } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

/** Named selections of tools, prompts and resources, each its own MCP server at /mcp/{name}. */
export type Toolsets = {
  /** Creates a toolset, or replaces the one with that name. */
  put(toolset: NewToolsetInput): Promise<Toolset>;
  list(options?: PageOptions): Listing<Toolset>;
  get(name: string): Promise<Toolset>;
  delete(name: string): Promise<void>;
};

export const toolsets = (transport: Transport): Toolsets => {
  const at = (name: string): string => `/v1/toolsets/${encodeURIComponent(name)}`;
  return {
    put: (toolset) => transport.json('POST', '/v1/toolsets', { body: toolset }),
    list: (options = {}) => listFrom(transport, '/v1/toolsets', { ...options }),
    get: (name) => transport.json('GET', at(name)),
    delete: (name) => transport.json('DELETE', at(name)),
  };
};

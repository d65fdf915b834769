import type { InstalledAtipTool, ToolChanges } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing } from './listing.js';
import type { Transport } from './transport.js';

export type AtipTools = {
  /** Adds an ATIP document. Each of its commands becomes a tool. */
  add(document: object): Promise<InstalledAtipTool & { changes: ToolChanges; warnings: string[] }>;
  list(): Listing<InstalledAtipTool>;
  get(name: string): Promise<InstalledAtipTool & { document: unknown }>;
  remove(name: string): Promise<void>;
};

export const atipTools = (transport: Transport): AtipTools => {
  const at = (name: string): string => `/v1/atip-tools/${encodeURIComponent(name)}`;
  return {
    add: (document) => transport.json('POST', '/v1/atip-tools', { body: document }),
    list: () => listFrom(transport, '/v1/atip-tools', {}),
    get: (name) => transport.json('GET', at(name)),
    remove: (name) => transport.json('DELETE', at(name)),
  };
};

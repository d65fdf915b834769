import type {
  McpFile,
  McpLoginAnswer,
  McpServer,
  McpServerChange,
  McpToolChange,
  NewMcpServer,
} from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type McpServers = {
  /** Answers when its tools were found, or why not is known. */
  add(server: NewMcpServer): Promise<McpServer>;
  /** All servers of an `mcp.json`; those that are known and different are changed. */
  addFile(file: McpFile): Promise<{ items: McpServer[] }>;
  list(options?: PageOptions): Listing<McpServer>;
  get(name: string): Promise<McpServer>;
  change(name: string, change: McpServerChange): Promise<McpServer>;
  refresh(name: string): Promise<McpServer>;
  /** Tools whose description changed since somebody took them. */
  changes(name: string, options?: PageOptions): Listing<McpToolChange>;
  /** Takes changed tools as they are now; all by default. */
  accept(name: string, tools?: string[]): Promise<McpServer>;
  /** Begins a login in a browser, for the tenant or for oneself. */
  login(name: string, per?: 'tenant' | 'actor'): Promise<McpLoginAnswer>;
  logout(name: string): Promise<void>;
  delete(name: string): Promise<void>;
};

/** A server is looked at before the answer. */
const LOOK_S = 30;

export const mcpServers = (transport: Transport): McpServers => {
  const at = (name: string): string => `/v1/mcp-servers/${encodeURIComponent(name)}`;
  return {
    add: (server) => transport.json('POST', '/v1/mcp-servers', { body: server, wait_s: LOOK_S }),
    addFile: (file) => transport.json('POST', '/v1/mcp-servers', { body: file, wait_s: LOOK_S }),
    list: (options = {}) => listFrom(transport, '/v1/mcp-servers', { ...options }),
    get: (name) => transport.json('GET', at(name)),
    change: (name, change) => transport.json('PATCH', at(name), { body: change, wait_s: LOOK_S }),
    refresh: (name) => transport.json('POST', `${at(name)}/refresh`, { wait_s: LOOK_S }),
    changes: (name, options = {}) => listFrom(transport, `${at(name)}/changes`, { ...options }),
    accept: (name, tools) =>
      transport.json('POST', `${at(name)}/accept`, { body: tools ? { tools } : {}, wait_s: LOOK_S }),
    login: (name, per = 'tenant') => transport.json('POST', `${at(name)}/login`, { body: { per }, wait_s: LOOK_S }),
    logout: (name) => transport.json('DELETE', `${at(name)}/login`),
    delete: (name) => transport.json('DELETE', at(name)),
  };
};

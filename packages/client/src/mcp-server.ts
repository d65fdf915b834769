import type {
  McpFile,
  McpLoginAnswer,
  McpServer,
  McpServerChange,
  McpToolChange,
  NewMcpServer,
  RegistryServer,
} from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type McpServers = {
  /** Returns once its tools were discovered or discovery failed. With `registry`, the installation's registry describes the server. */
  add(server: NewMcpServer | RegistryServer): Promise<McpServer>;
  /** Adds all servers of an `mcp.json`, and changes existing ones that differ. */
  addFile(file: McpFile): Promise<{ items: McpServer[] }>;
  list(options?: PageOptions): Listing<McpServer>;
  get(name: string): Promise<McpServer>;
  change(name: string, change: McpServerChange): Promise<McpServer>;
  refresh(name: string): Promise<McpServer>;
  /** Tools whose description changed since they were accepted. */
  changes(name: string, options?: PageOptions): Listing<McpToolChange>;
  /** Accepts changed tools; by default all, as they are now. `found_until`: none that changed again after somebody has reviewed them. */
  accept(name: string, tools?: string[], found_until?: string): Promise<McpServer>;
  /** Starts a login in a browser, for the tenant or for oneself. */
  login(name: string, per?: 'tenant' | 'actor'): Promise<McpLoginAnswer>;
  logout(name: string): Promise<void>;
  delete(name: string): Promise<void>;
};

/** Discovery runs before the response. */
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
    accept: (name, tools, found_until) =>
      transport.json('POST', `${at(name)}/accept`, { body: { tools, found_until }, wait_s: LOOK_S }),
    login: (name, per = 'tenant') => transport.json('POST', `${at(name)}/login`, { body: { per }, wait_s: LOOK_S }),
    logout: (name) => transport.json('DELETE', `${at(name)}/login`),
    delete: (name) => transport.json('DELETE', at(name)),
  };
};

import type { Backbone } from '@capstan/backbone';
import { mcpTrust } from '@capstan/catalog';
import type { NewMcpServer, Trust } from '@capstan/contracts';
import type { McpPorts, McpServerSettings } from '@capstan/runners';
import { getMcpServer, markMcpServerStale, mcpResourceTopic } from '@capstan/store';

/** A change is forgotten at once by signal, and after this long should the signal be lost. */
const CACHE_MS = 5000;

/** Whoever owns the name of a server that is trusted less could have it resolve to an address of ours. */
const MAY_BE_PRIVATE: ReadonlySet<Trust> = new Set(['vendor', 'org', 'community']);

type Cached = { settings: McpServerSettings | null; until: number };

/** MCP servers as the runner knows them, from Postgres. */
export function createMcpPorts({ store, relay, log }: Pick<Backbone, 'store' | 'relay' | 'log'>): McpPorts {
  const cache = new Map<string, Cached>();
  const listeners: (() => void)[] = [];
  relay.subscribe('refresh', (what) => {
    if (!what.includes('mcp-servers')) return;
    cache.clear();
    for (const listener of listeners) listener();
  });
  const markStale = async (name: string) => {
    if (await markMcpServerStale(store, name)) relay.publish('refresh', ['mcp-stale']);
  };
  return {
    server: async (name) => {
      const cached = cache.get(name);
      if (cached && cached.until > performance.now()) return cached.settings;
      const row = await getMcpServer(store.db, name);
      const settings = row?.enabled ? toSettings(row.config) : null;
      cache.set(name, { settings, until: performance.now() + CACHE_MS });
      return settings;
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
    // What changed is a matter between the server and whoever subscribed: a hash is enough to tell it by.
    updated: (name, uri) => relay.publish('refresh', [mcpResourceTopic(name, uri)]),
    authProvider: () => undefined,
    stale: (name) => {
      markStale(name).catch((error: unknown) =>
        log.warn({ err: error, server: name }, 'a stale MCP server was not noted'),
      );
    },
  };
}

const toSettings = (config: NewMcpServer): McpServerSettings => ({
  config,
  allow_private: MAY_BE_PRIVATE.has(mcpTrust(config)),
});

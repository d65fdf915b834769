import type { Backbone } from '@capstan/backbone';
import { mcpTrust } from '@capstan/catalog';
import type { NewMcpServer, Trust } from '@capstan/contracts';
import { type McpCredentials, McpOAuth, oauthFetch } from '@capstan/execution';
import type { McpPorts, McpServerSettings } from '@capstan/runners';
import {
  getMcpServer,
  markMcpServerStale,
  mcpResourceTopic,
  putMcpCredentials,
  readMcpCredentials,
  type SecretKeys,
  SHARED_OWNER,
  type Store,
} from '@capstan/store';

/** A change is forgotten at once by signal, and after this long should the signal be lost. */
const CACHE_MS = 5000;

/** Whoever owns the name of a server that is trusted less could have it resolve to an address of ours. */
const MAY_BE_PRIVATE: ReadonlySet<Trust> = new Set(['vendor', 'org', 'community']);

type Cached = { settings: McpServerSettings | null; until: number };

/** MCP servers as the runner knows them, from Postgres. */
export function createMcpPorts(
  { store, relay, log }: Pick<Backbone, 'store' | 'relay' | 'log'>,
  keys?: SecretKeys,
): McpPorts {
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
    // A server with a token in its headers is spoken to with that.
    tokens: (server, actor, egress) =>
      keys && server.actor !== ''
        ? {
            provider: providerFor({ store, keys }, server.config, server.tenant, actor),
            fetch: oauthFetch(egress, server.allow_private),
          }
        : undefined,
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

/** Those of whoever makes the call, else those of the tenant. Refreshed ones are sealed again where they were. */
function providerFor(
  { store, keys }: { store: Store; keys: SecretKeys },
  config: NewMcpServer,
  tenant: string,
  actor: string,
) {
  const place = (owner: string) => ({ server: config.name, tenant, owner });
  let owner = SHARED_OWNER;
  const load = async (): Promise<McpCredentials> => {
    const own = await readMcpCredentials(store.db, keys, place(actor));
    owner = own === null ? SHARED_OWNER : actor;
    const text = own ?? (await readMcpCredentials(store.db, keys, place(SHARED_OWNER)));
    return text === null ? {} : JSON.parse(text);
  };
  return new McpOAuth({
    ...{ config, load, redirect_url: 'http://127.0.0.1/' },
    save: async (credentials) => {
      // What was never given here is for a login to get.
      if (credentials.tokens) await putMcpCredentials(store.db, keys, place(owner), JSON.stringify(credentials));
    },
  });
}

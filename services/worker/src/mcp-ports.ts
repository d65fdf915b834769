import { isDeepStrictEqual } from 'node:util';
import type { Backbone } from '@capstan/backbone';
import { mayBePrivate } from '@capstan/catalog';
import type { NewMcpServer } from '@capstan/contracts';
import { type McpCredentials, McpOAuth, oauthFetch, readCredentials, withChallenge } from '@capstan/execution';
import type { McpPorts, McpServerSettings, ServerTokens } from '@capstan/runners';
import type { Store } from '@capstan/store';
import {
  getMcpServer,
  markMcpServerStale,
  putMcpCredentials,
  readMcpCredentials,
  SHARED_OWNER,
} from '@capstan/store/mcp-server';
import { mcpResourceTopic } from '@capstan/store/mcp-session';
import type { SecretKeys } from '@capstan/store/secret';

/** A signal clears the cache at once when a server changes. This is the limit in case the signal is lost. */
const CACHE_MS = 5000;

type Cached = { settings: McpServerSettings | null; until: number };

/** Gives the runner the configuration and credentials of MCP servers from Postgres. */
export function createMcpPorts(
  { store, relay, log }: Pick<Backbone, 'store' | 'relay' | 'log'>,
  keys?: SecretKeys,
): McpPorts {
  const cache = new Map<string, Cached>();
  const listeners: (() => void)[] = [];
  const hearers: ((isChanged: (name: string, uri: string) => boolean) => void)[] = [];
  relay.subscribe('refresh', (what) => {
    const isChanged = (name: string, uri: string) => what.includes(mcpResourceTopic(name, uri));
    for (const hear of hearers) hear(isChanged);
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
    // Only a hash is published: the URI concerns nobody but the server and its subscribers.
    updated: (name, uri) => relay.publish('refresh', [mcpResourceTopic(name, uri)]),
    onUpdated: (listener) => {
      hearers.push(listener);
    },
    // The actor is empty if the configured headers contain credentials: such a server needs no login.
    tokens: (server, actor, egress) =>
      keys && server.actor !== ''
        ? {
            ...credentialsOf({ store, keys }, server.config, server.tenant, actor),
            fetch: oauthFetch(egress, server.allow_private),
          }
        : undefined,
    stale: (name) => {
      markStale(name).catch((error: unknown) =>
        log.warn({ err: error, server: name }, 'a stale MCP server could not be recorded'),
      );
    },
  };
}

const toSettings = (config: NewMcpServer): McpServerSettings => ({
  config,
  allow_private: mayBePrivate(config),
});

/** The caller's own credentials, else those of the tenant. Refreshed ones are sealed and stored in the same place. */
function credentialsOf(
  { store, keys }: { store: Store; keys: SecretKeys },
  config: NewMcpServer,
  tenant: string,
  actor: string,
): Omit<ServerTokens, 'fetch'> {
  const place = (owner: string) => ({ server: config.name, tenant, owner });
  let owner = SHARED_OWNER;
  const load = async (): Promise<McpCredentials> => {
    const own = await readMcpCredentials(store.db, keys, place(actor));
    owner = own === null ? SHARED_OWNER : actor;
    return readCredentials(own ?? (await readMcpCredentials(store.db, keys, place(SHARED_OWNER))));
  };
  const save = (credentials: McpCredentials) =>
    putMcpCredentials(store.db, keys, place(owner), JSON.stringify(credentials));
  const provider = new McpOAuth({
    ...{ config, load, redirect_url: 'http://127.0.0.1/' },
    save: async (credentials) => {
      // Without tokens there is nothing to keep: only a login can get them.
      if (credentials.tokens) await save(credentials);
    },
  });
  return {
    provider,
    challenged: async (challenge) => {
      const known = await load();
      const heard = withChallenge(known, challenge);
      if (!isDeepStrictEqual(known.challenge, heard.challenge)) await save(heard);
    },
  };
}

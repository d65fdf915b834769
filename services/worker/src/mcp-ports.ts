import { isDeepStrictEqual } from 'node:util';
import type { Backbone } from '@capstan/backbone';
import { mayBePrivate } from '@capstan/catalog';
import type { NewMcpServer } from '@capstan/contracts';
import type { Egress } from '@capstan/egress';
import {
  type ChangeCredentials,
  type McpCredentials,
  McpOAuth,
  oauthFetch,
  readCredentials,
  refreshOnce,
  withChallenge,
} from '@capstan/execution';
import {
  createTurns,
  type McpPorts,
  type McpServerSettings,
  type ResolvedServer,
  type ServerTokens,
  type Turns,
} from '@capstan/runners';
import type { Store } from '@capstan/store';
import {
  changeMcpCredentials,
  getMcpServer,
  markMcpServerStale,
  readMcpCredentials,
  SHARED_OWNER,
} from '@capstan/store/mcp-server';
import { mcpResourceTopic } from '@capstan/store/mcp-session';
import type { SecretKeys } from '@capstan/store/secret';

/** A signal clears the cache at once when a server changes. This is the limit in case the signal is lost. */
const CACHE_MS = 5000;

/** A change waits for an authorization server while it has a connection to Postgres, of which the calls need most. */
const CHANGES_AT_ONCE = 2;
const TURN_MS = 60_000;

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
  const turns = createTurns(CHANGES_AT_ONCE);
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
      keys && server.actor !== '' ? tokensOf({ store, keys, turns }, server, actor, egress) : undefined,
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
function tokensOf(
  { store, keys, turns }: { store: Store; keys: SecretKeys; turns: Turns },
  { config, tenant, allow_private }: ResolvedServer,
  actor: string,
  egress: Egress,
): ServerTokens {
  const place = (owner: string) => ({ server: config.name, tenant, owner });
  const read = async () => {
    const own = await readMcpCredentials(store.db, keys, place(actor));
    return own === null
      ? { owner: SHARED_OWNER, value: await readMcpCredentials(store.db, keys, place(SHARED_OWNER)) }
      : { owner: actor, value: own };
  };
  const load = async (): Promise<McpCredentials> => readCredentials((await read()).value);
  const change: ChangeCredentials = async (alter) => {
    const { owner } = await read();
    const changed = async (value: string | null) => {
      const before = readCredentials(value);
      const after = await alter(before);
      return isDeepStrictEqual(before, after) ? null : JSON.stringify(after);
    };
    const run = () => changeMcpCredentials(store, keys, place(owner), changed);
    await turns(AbortSignal.timeout(TURN_MS), run);
  };
  const provider = new McpOAuth({
    ...{ config, load, redirect_url: 'http://127.0.0.1/' },
    // Before a login there is nothing to keep.
    change: (alter) => change(async (before) => (before.tokens ? alter(before) : before)),
  });
  return {
    provider,
    fetch: refreshOnce(oauthFetch(egress, allow_private), change),
    challenged: async (challenge) => {
      const known = await load();
      if (!isDeepStrictEqual(known, withChallenge(known, challenge)))
        await change(async (before) => withChallenge(before, challenge));
    },
  };
}

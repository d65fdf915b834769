import { setTimeout as delay } from 'node:timers/promises';
import { claimMcpServer, claimStaleMcpServers, listMcpServers } from '@capstan/store/mcp-server';
import type { GatewayContext } from '../gateway-context.js';
import { discover } from './discover.js';
import { putInternalPolicy } from './internal-policy.js';

/** Keeps the tools of MCP servers up to date: discovers a server on request, and when it is stale. */
export type McpDiscovery = {
  /** Discovers a server now. Resolves when that is done, or after 20 s; then it continues in the background. */
  now(gateway: GatewayContext, name: string): Promise<void>;
  /** The same for all enabled servers. */
  all(gateway: GatewayContext): Promise<void>;
  start(gateway: GatewayContext): Promise<() => void>;
};

export const MCP_SERVERS_CHANGED = 'mcp-servers';
const MCP_SERVER_STALE = 'mcp-stale';

/** The shortest interval for a server that keeps announcing changes. A server that fails is tried less and less often. */
const EVERY_MS = 2000;
/** In case signals were lost. */
const SWEEP_MS = 5000;
const ANSWER_MS = 20_000;

export function createMcpDiscovery(): McpDiscovery {
  const underWay = new Map<string, Promise<void>>();

  /** If a discovery is in progress, waits for the next one: the current one may have begun before the caller's change. */
  const lookAfter = async (gateway: GatewayContext, name: string): Promise<void> => {
    await underWay.get(name)?.catch(() => {});
    const looking =
      underWay.get(name) ??
      begin(name, async () => {
        const claimed = await claimMcpServer(gateway.store, name);
        if (claimed) await discover(gateway, claimed);
      });
    return looking;
  };
  const begin = (name: string, look: () => Promise<void>): Promise<void> => {
    const looking = look().finally(() => underWay.delete(name));
    underWay.set(name, looking);
    return looking;
  };

  const sweep = async (gateway: GatewayContext) => {
    for (const claimed of await claimStaleMcpServers(gateway.store, EVERY_MS))
      if (!underWay.has(claimed.name))
        begin(claimed.name, () => discover(gateway, claimed)).catch((error: unknown) =>
          gateway.log.warn({ err: error, server: claimed.name }, 'MCP server discovery failed'),
        );
  };

  const now = async (gateway: GatewayContext, name: string) => {
    const looking = lookAfter(gateway, name);
    looking.catch((error: unknown) =>
      gateway.log.warn({ err: error, server: name }, 'MCP server discovery could not be started'),
    );
    await Promise.race([looking, delay(ANSWER_MS, undefined, { ref: false })]);
  };
  return {
    now,
    all: async (gateway) => {
      const servers = await listMcpServers(gateway.store.db);
      await Promise.all(servers.filter(({ enabled }) => enabled).map(({ name }) => now(gateway, name)));
    },
    start: async (gateway) => {
      await putInternalPolicy(gateway.store);
      const look = () => {
        if (!gateway.stopping.aborted) sweep(gateway).catch(() => {});
      };
      const unsubscribe = gateway.relay.subscribe('refresh', (what) => {
        if (!what.includes(MCP_SERVER_STALE)) return;
        look();
        // A server that was discovered a moment ago is due only after that interval.
        setTimeout(look, EVERY_MS).unref();
      });
      const timer = setInterval(look, SWEEP_MS);
      timer.unref();
      return () => {
        clearInterval(timer);
        unsubscribe();
      };
    },
  };
}

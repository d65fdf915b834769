import { setTimeout as delay } from 'node:timers/promises';
import { claimMcpServer, claimStaleMcpServers, listMcpServers } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { discover } from './discover.js';
import { putInternalPolicy } from './internal-policy.js';

/** Keeps what is known of MCP servers true: looks when somebody asks, and when a server is stale. */
export type McpDiscovery = {
  /** Looks now. Resolves when that is done, or after a while; it goes on in the background then. */
  now(gateway: GatewayContext, name: string): Promise<void>;
  /** The same for every server that is switched on. */
  all(gateway: GatewayContext): Promise<void>;
  start(gateway: GatewayContext): Promise<() => void>;
};

export const MCP_SERVERS_CHANGED = 'mcp-servers';
export const MCP_SERVER_STALE = 'mcp-stale';

/** A server that says at every turn that its tools changed is looked at this often, and one that fails ever more seldom. */
const EVERY_MS = 2000;
/** For signals that were lost. */
const SWEEP_MS = 5000;
const ANSWER_MS = 20_000;

export function createMcpDiscovery(): McpDiscovery {
  const underWay = new Map<string, Promise<void>>();

  /** Whoever asks while a look is under way waits for the next: this one may have begun before what they changed. */
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
          gateway.log.warn({ err: error, server: claimed.name }, 'an MCP server could not be looked at'),
        );
  };

  const now = async (gateway: GatewayContext, name: string) => {
    const looking = lookAfter(gateway, name);
    looking.catch((error: unknown) =>
      gateway.log.warn({ err: error, server: name }, 'an MCP server was not looked at'),
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
        // One that was looked at a moment ago has its turn only then.
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

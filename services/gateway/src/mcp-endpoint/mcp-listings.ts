import type { McpListing } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import type { Store } from '@capstan/store';
import { listMcpServers } from '@capstan/store/mcp-server';
import { MCP_LISTS } from '../mcp-sources/discover.js';
import { MCP_SERVERS_CHANGED } from '../mcp-sources/mcp-discovery.js';

/** The prompts and resources of MCP servers as of their last discovery; in memory, like the catalog. */
export type McpListings = { all(): { server: string; listing: McpListing }[] };

export async function createMcpListings(store: Store, relay: Relay): Promise<McpListings> {
  let listings: { server: string; listing: McpListing }[] = [];
  const refresh = async () => {
    const servers = await listMcpServers(store.db);
    listings = servers.flatMap(({ name, enabled, listing }) => (enabled && listing ? [{ server: name, listing }] : []));
  };
  const again = () => void refresh().catch(() => {});
  relay.subscribe(
    'refresh',
    (what) => (what.includes(MCP_LISTS) || what.includes(MCP_SERVERS_CHANGED)) && again(),
    again,
  );
  await refresh();
  return { all: () => listings };
}

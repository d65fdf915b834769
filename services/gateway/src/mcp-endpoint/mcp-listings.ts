import type { McpListing } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import { listMcpServers, type Store } from '@capstan/store';
import { MCP_LISTS } from '../mcp-sources/discover.js';
import { MCP_SERVERS_CHANGED } from '../mcp-sources/mcp-discovery.js';

/** What MCP servers offer beside tools, as they were looked at last; in memory, as the catalog is. */
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

import type { CatalogSource } from '@capstan/contracts';
import { listMcpServers } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';

/** How each source fares. A server that cannot be reached keeps its tools, and says here that it cannot. */
export async function findSources({
  catalog,
  store,
}: Pick<GatewayContext, 'catalog' | 'store'>): Promise<CatalogSource[]> {
  const servers = (await listMcpServers(store.db)).filter(({ enabled }) => enabled);
  const failing = servers.flatMap(({ name, tools, error }): CatalogSource[] =>
    error === null ? [] : [{ source: 'mcp', origin: name, status: 'error', tools, error }],
  );
  const others = catalog
    .sources()
    .filter(({ source, origin }) => source !== 'mcp' || !failing.some((server) => server.origin === origin));
  return [...others, ...failing];
}

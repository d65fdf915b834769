import type { Catalog, CatalogEntry } from '@capstan/catalog';
import { CatalogSource, DEFAULT_TENANT, Failure, pageOf, Tool } from '@capstan/contracts';
import { listMcpServers } from '@capstan/store/mcp-server';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';
import { findTools, ToolQuery } from './find-tools.js';
import { announceTools } from './installation-admin.js';

const toTool = (catalog: Catalog, { descriptor, descriptor_hash }: CatalogEntry): Tool => ({
  ...descriptor,
  descriptor_hash,
  enabled: catalog.get(descriptor.tool_id) !== undefined,
});

export const toolRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/tools',
    summary: 'List tools; with q, best match first; with enabled=false or any, including disabled ones',
    roles: ['submit', 'operate', 'audit'],
    query: ToolQuery,
    answers: {
      200: {
        description: 'A page of tools',
        schema: pageOf(Tool),
      },
    },
    handle: ({ catalog }, { query }) => {
      const { items, next_cursor } = findTools(catalog, query);
      return { items: items.map((entry) => toTool(catalog, entry)), next_cursor };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/tools/{tool_id}',
    summary: 'Get a tool',
    roles: ['submit', 'operate', 'audit'],
    answers: {
      200: { description: 'The tool', schema: Tool.extend({ unavailable: z.string().nullable() }) },
    },
    handle: ({ catalog }, { params }) => {
      const tool_id = params.tool_id ?? '';
      const tool = catalog.get(tool_id) ?? catalog.disabled(tool_id);
      if (!tool) {
        const similar = catalog.similar(tool_id);
        throw new Failure('NOT_FOUND', {
          detail: `There is no tool ${tool_id}.`,
          context: { similar },
          ...(similar.length > 0 ? { suggestion: `Did you mean ${similar.join(', ')}?` } : {}),
        });
      }
      const shown = toTool(catalog, tool);
      return { ...shown, unavailable: shown.enabled ? tool.unavailable() : 'it is disabled' };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/tools/refresh',
    summary: 'Reload the catalog of tools from every MCP server and in every process',
    roles: ['operate', 'admin'],
    answers: {
      200: {
        description: 'The number of tools, and the status of each source',
        schema: z.object({ tools: z.int(), sources: z.array(CatalogSource) }),
      },
    },
    handle: async (gateway, { principal }) => {
      // Addresses and errors of servers are shown to the installation only.
      const own = principal.tenant === DEFAULT_TENANT;
      if (own) await gateway.mcp_discovery.all(gateway);
      await announceTools(gateway);
      return {
        tools: gateway.catalog.list().length,
        sources: own ? await findSources(gateway) : gateway.catalog.sources(),
      };
    },
  }),
];

/** The status of each source. An MCP server that cannot be reached keeps its tools and shows its error here. */
async function findSources({ catalog, store }: Pick<GatewayContext, 'catalog' | 'store'>): Promise<CatalogSource[]> {
  const servers = (await listMcpServers(store.db)).filter(({ enabled }) => enabled);
  const failing = servers.flatMap(({ name, tools, error }): CatalogSource[] =>
    error === null ? [] : [{ source: 'mcp', origin: name, status: 'error', tools, error }],
  );
  const others = catalog
    .sources()
    .filter(({ source, origin }) => source !== 'mcp' || !failing.some((server) => server.origin === origin));
  return [...others, ...failing];
}

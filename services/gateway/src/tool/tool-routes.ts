import type { Catalog, CatalogEntry } from '@capstan/catalog';
import { CatalogSource, DEFAULT_TENANT, Failure, pageOf, Tool } from '@capstan/contracts';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { findSources } from './find-sources.js';
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
    summary:
      'The tools that can be invoked; with q, the best match first; with enabled=false or any, those that are switched off',
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
    summary: 'One tool',
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
    summary: 'Look again at what tools there are, at every MCP server and in every process',
    roles: ['operate', 'admin'],
    answers: {
      200: {
        description: 'How many there are, and how each source fared',
        schema: z.object({ tools: z.int(), sources: z.array(CatalogSource) }),
      },
    },
    handle: async (gateway, { principal }) => {
      // Where the servers are, and what is wrong with them, is the installation's own business.
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

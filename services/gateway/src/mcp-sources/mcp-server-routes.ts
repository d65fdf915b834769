import {
  DEFAULT_TENANT,
  Failure,
  McpAcceptance,
  McpFile,
  McpServer,
  McpServerChange,
  McpToolChange,
  NewMcpServer,
  type Principal,
  pageOf,
  RegistryServer,
} from '@capstan/contracts';
import {
  acceptChangedTools,
  getMcpServer,
  listChangedTools,
  listMcpServers,
  markMcpServerStale,
  removeMcpServer,
} from '@capstan/store/mcp-server';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { parseWith } from '../http/parse-request.js';
import { OVERSEERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { add, change, take } from './keep-mcp-servers.js';
import { MCP_SERVERS_CHANGED } from './mcp-discovery.js';
import { readMcpFile } from './mcp-file.js';
import { findInRegistry } from './mcp-registry.js';
import { toMcpServer, toToolChange } from './to-mcp-server.js';

/** MCP servers run as programs on the workers, and all tenants share their tools. */
function requireInstallation({ tenant }: Principal): void {
  if (tenant !== DEFAULT_TENANT)
    throw new Failure('TENANT_FORBIDDEN', { detail: `Only the tenant ${DEFAULT_TENANT} manages MCP servers.` });
}

const show = async ({ store }: GatewayContext, name: string): Promise<McpServer> => {
  const row = await getMcpServer(store.db, name);
  if (!row) throw notFound(`MCP server ${name}`);
  return toMcpServer(
    row,
    (await listChangedTools(store.db, name)).map(({ tool_id }) => tool_id),
  );
};

const isFile = (body: unknown): boolean => McpFile.safeParse(body).success;
const isOfRegistry = (body: unknown): boolean => typeof body === 'object' && body !== null && 'registry' in body;
const Servers = pageOf(McpServer);

export const mcpServerRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/mcp-servers',
    summary: 'List MCP servers with their status',
    roles: OVERSEERS,
    query: AllQuery,
    answers: { 200: { description: 'All servers', schema: Servers } },
    handle: async ({ store }, { principal, query }) => {
      requireInstallation(principal);
      const changed = await listChangedTools(store.db);
      const ofServer = (name: string) => changed.filter(({ server }) => server === name).map(({ tool_id }) => tool_id);
      const servers = await listMcpServers(store.db);
      return pageOfAll(
        servers.map((row) => toMcpServer(row, ofServer(row.name))),
        query,
      );
    },
  }),
  route({
    method: 'GET',
    path: '/v1/mcp-servers/{name}',
    summary: 'Get an MCP server',
    roles: OVERSEERS,
    answers: { 200: { description: 'The server', schema: McpServer } },
    handle: (gateway, { principal, params }) => {
      requireInstallation(principal);
      return show(gateway, params.name ?? '');
    },
  }),
  route({
    method: 'POST',
    path: '/v1/mcp-servers',
    summary: 'Add an MCP server and discover its tools: by configuration, from the registry, or all of an mcp.json',
    roles: ['admin'],
    body: z.unknown().meta({ override: z.union([NewMcpServer, RegistryServer, McpFile]) }),
    answers: {
      201: { description: 'The server, or all of the file as items', schema: z.union([McpServer, Servers]) },
    },
    handle: async (gateway, { principal, body, reply }) => {
      requireInstallation(principal);
      reply.code(201);
      if (isFile(body)) {
        const configs = readMcpFile(body);
        await take(gateway, principal, configs);
        return { items: await Promise.all(configs.map(({ name }) => show(gateway, name))), next_cursor: null };
      }
      const config = isOfRegistry(body)
        ? await findInRegistry(gateway, parseWith(RegistryServer, body, 'body'))
        : parseWith(NewMcpServer, body, 'body');
      await add(gateway, principal, config);
      return show(gateway, config.name);
    },
  }),
  route({
    method: 'PATCH',
    path: '/v1/mcp-servers/{name}',
    summary: 'Change an MCP server: enable, disable, configure',
    roles: ['admin'],
    body: McpServerChange,
    answers: { 200: { description: 'The server', schema: McpServer } },
    handle: async (gateway, { principal, params, body }) => {
      requireInstallation(principal);
      return toMcpServer(await change(gateway, principal, params.name ?? '', body));
    },
  }),
  route({
    method: 'POST',
    path: '/v1/mcp-servers/{name}/refresh',
    summary: 'Discover the tools of an MCP server again',
    roles: ['admin', 'operate'],
    answers: { 200: { description: 'The server', schema: McpServer } },
    handle: async (gateway, { principal, params }) => {
      requireInstallation(principal);
      await show(gateway, params.name ?? '');
      await gateway.mcp_discovery.now(gateway, params.name ?? '');
      return show(gateway, params.name ?? '');
    },
  }),
  route({
    method: 'GET',
    path: '/v1/mcp-servers/{name}/changes',
    summary: 'List tools whose description changed since they were accepted, before and after',
    roles: OVERSEERS,
    query: AllQuery,
    answers: { 200: { description: 'All changes', schema: pageOf(McpToolChange) } },
    handle: async ({ store }, { principal, params, query }) => {
      requireInstallation(principal);
      const changes = await listChangedTools(store.db, params.name ?? '');
      return pageOfAll(changes.map(toToolChange), query);
    },
  }),
  route({
    method: 'POST',
    path: '/v1/mcp-servers/{name}/accept',
    summary: 'Accept changed tools as they are now; all of the server by default',
    roles: ['admin'],
    body: McpAcceptance.default({}),
    answers: { 200: { description: 'The server', schema: McpServer } },
    handle: async (gateway, { principal, params, body }) => {
      requireInstallation(principal);
      const name = params.name ?? '';
      await show(gateway, name);
      await acceptChangedTools(gateway.store, principal, name, body);
      await markMcpServerStale(gateway.store, name);
      await gateway.mcp_discovery.now(gateway, name);
      return show(gateway, name);
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/mcp-servers/{name}',
    summary: 'Remove an MCP server and its tools',
    roles: ['admin'],
    answers: { 204: { description: 'Gone' } },
    handle: async ({ store, relay, catalog }, { principal, params, reply }) => {
      requireInstallation(principal);
      if (!(await removeMcpServer(store, principal, params.name ?? ''))) throw notFound(`MCP server ${params.name}`);
      relay.publish('refresh', [MCP_SERVERS_CHANGED, 'tools']);
      await catalog.refresh();
      return reply.code(204).send();
    },
  }),
];

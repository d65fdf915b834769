import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { Failure, type McpServerChange, NewMcpServer, type Principal } from '@capstan/contracts';
import { addMcpServer, changeMcpServer, getMcpServer, type McpServerRow } from '@capstan/store/mcp-server';
import type { GatewayContext } from '../gateway-context.js';
import { invalidRequest } from '../http/parse-request.js';
import { notFound } from '../invocation/act-on.js';
import { INTERNAL } from './internal-policy.js';
import { MCP_SERVERS_CHANGED } from './mcp-discovery.js';
import { readMcpFile } from './mcp-file.js';

export async function add(gateway: GatewayContext, by: Principal, config: NewMcpServer): Promise<void> {
  if (!(await addMcpServer(gateway.store, by, config)))
    throw new Failure('ILLEGAL_STATE', {
      detail: `There is an MCP server ${config.name} already.`,
      suggestion: `Change it with PATCH /v1/mcp-servers/${config.name}, or delete it first.`,
    });
  await tellAndLook(gateway, config.name);
}

/** Adds or changes the servers of a file. Servers that have not changed are left alone. */
export async function take(gateway: GatewayContext, by: Principal, configs: NewMcpServer[]): Promise<void> {
  await Promise.all(
    configs.map(async (config) => {
      const known = await getMcpServer(gateway.store.db, config.name);
      if (known && isDeepStrictEqual(known.config, config)) return;
      if (known) await changeMcpServer(gateway.store, by, config);
      else await addMcpServer(gateway.store, by, config);
      await tellAndLook(gateway, config.name);
    }),
  );
}

export async function change(
  gateway: GatewayContext,
  by: Principal,
  name: string,
  wanted: McpServerChange,
): Promise<McpServerRow> {
  const known = await getMcpServer(gateway.store.db, name);
  if (!known) throw notFound(`MCP server ${name}`);
  const merged = NewMcpServer.safeParse({ ...known.config, ...wanted });
  if (!merged.success) throw invalidRequest(merged.error, 'body');
  if (!isDeepStrictEqual(known.config, merged.data)) {
    await changeMcpServer(gateway.store, by, merged.data);
    await tellAndLook(gateway, name);
  }
  const row = await getMcpServer(gateway.store.db, name);
  if (!row) throw notFound(`MCP server ${name}`);
  return row;
}

/** The catalog is refreshed before discovery, because disabling a server removes its tools at once. */
async function tellAndLook(gateway: GatewayContext, name: string): Promise<void> {
  gateway.relay.publish('refresh', [MCP_SERVERS_CHANGED, 'tools']);
  await gateway.catalog.refresh();
  await gateway.mcp_discovery.now(gateway, name);
}

/** Registers the servers of CAPSTAN_MCP_FILE. An invalid file stops the start, like any wrong setting. */
export async function takeFile(gateway: GatewayContext, path: string): Promise<void> {
  const configs = await readFile(path, 'utf8')
    .then((text) => readMcpFile(JSON.parse(text)))
    .catch((error: unknown) => {
      throw new Error(`CAPSTAN_MCP_FILE ${path}: ${error instanceof Error ? error.message : error}`, { cause: error });
    });
  take(gateway, INTERNAL, configs).catch((error: unknown) =>
    gateway.log.error({ err: error, path }, 'the MCP servers in CAPSTAN_MCP_FILE could not be registered'),
  );
}

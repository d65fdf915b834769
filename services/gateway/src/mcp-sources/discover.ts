import { MCP_DISCOVER, toMcpDescriptors, toMcpMethods } from '@capstan/catalog';
import { type Invocation, isObject, type Json, JsonObject, type McpListing } from '@capstan/contracts';
import { type ClaimedDiscovery, type Discovered, getMcpServer, recordMcpDiscovery } from '@capstan/store/mcp-server';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { submit } from '../invocation/submit.js';
import { INFO } from '../mcp-endpoint/create-mcp-server.js';
import { cameFrom } from '../mcp-endpoint/mcp-names.js';
import { INTERNAL, underInternalPolicy } from './internal-policy.js';

const RUN_MS = 60_000;
/** A discovery that no worker has started by then is given up and tried again later. */
const WAIT_MS = 120_000;

/** Lets a worker discover a server, and records what it finds as the server's tools. */
export async function discover(gateway: GatewayContext, claimed: ClaimedDiscovery): Promise<void> {
  const { store, relay, catalog } = gateway;
  const found = await look(gateway, claimed.name);
  if (gateway.stopping.aborted) return;
  const changes = await recordMcpDiscovery(store, INTERNAL, claimed, found);
  if (!changes) return;
  const { lists, added, changed, removed } = changes;
  const tools = added.length + changed.length + removed.length > 0;
  if (tools || lists) relay.publish('refresh', [...(tools ? ['tools'] : []), ...(lists ? [MCP_LISTS] : [])]);
  if (tools) await catalog.refresh();
}

async function look(gateway: GatewayContext, server: string): Promise<Discovered> {
  const call = {
    tool_id: MCP_DISCOVER,
    inputs: { server },
    timeout_ms: RUN_MS,
    expires_in_ms: WAIT_MS,
    max_attempts: 1,
  };
  const { invocation } = await submit(underInternalPolicy(gateway), INTERNAL, call, WAIT_MS);
  const { result } = invocation;
  if (!result?.success) return { error: errorOf(invocation) };
  const row = await getMcpServer(gateway.store.db, server);
  if (!row) return { error: 'it was removed meanwhile' };
  const found = Found.parse(result.payload);
  const { descriptors, skipped } = toMcpDescriptors(row.config, withoutOwn(server, found));
  if (skipped.length > 0) gateway.log.warn({ server, skipped }, 'some tools of an MCP server were skipped');
  const listing = toListing(found);
  const { prompts, resources } = found.has;
  const methods = toMcpMethods(row.config, { ...listing, prompts, resources });
  const taken = new Set(methods.map(({ tool_id }) => tool_id));
  return {
    ...{ methods, listing, pin: row.config.pin ?? true },
    descriptors: descriptors.filter(({ tool_id }) => !taken.has(tool_id)),
  };
}

/**
 * A server that is Capstan itself, or has this Capstan as a server, also lists the tools that were taken from it. Taking those again
 * would change its list, and so on without end.
 */
const withoutOwn = (server: string, { server_info, tools }: z.infer<typeof Found>): Json[] =>
  server_info?.name === INFO.name ? tools.filter((tool) => !isOwn(server, tool)) : tools;

const isOwn = (server: string, tool: Json): boolean =>
  isObject(tool) && typeof tool.name === 'string' && cameFrom(server, tool.name);

function errorOf({ status, result, invocation_id }: Invocation): string {
  if (result?.error) return result.error;
  if (status === 'queued' || status === 'expired')
    return 'no worker took it; start one with `capstan worker --runner mcp`';
  return `its discovery is ${status} (${invocation_id})`;
}

/** The topic that tells gateways that prompts or resources changed. */
export const MCP_LISTS = 'mcp-lists';

const Items = z.array(z.custom<Json>(() => true)).default([]);
/** The result of the runner. Items that are not objects are dropped later. */
const Found = z.object({
  server_info: z.object({ name: z.string() }).nullable().catch(null),
  protocol_version: z.string().nullable().default(null),
  instructions: z.string().nullable().default(null),
  ttl_ms: z.number().nonnegative().nullable().default(null),
  completions: z.boolean().default(false),
  subscribe: z.boolean().default(false),
  has: z.object({ prompts: z.boolean(), resources: z.boolean() }).default({ prompts: false, resources: false }),
  tools: Items,
  prompts: Items,
  resources: Items,
  resource_templates: Items,
});

const toListing = ({ tools, has, server_info, ...found }: z.infer<typeof Found>): McpListing => ({
  ...found,
  prompts: objectsIn(found.prompts, 'name'),
  resources: objectsIn(found.resources, 'uri'),
  resource_templates: objectsIn(found.resource_templates, 'uriTemplate'),
});

const objectsIn = (items: readonly Json[], key: string): JsonObject[] =>
  items.flatMap((item) => {
    const { data } = JsonObject.safeParse(item);
    return data && typeof data[key] === 'string' ? [data] : [];
  });

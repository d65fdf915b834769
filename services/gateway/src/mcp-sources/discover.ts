import { MCP_DISCOVER, toMcpDescriptors, toMcpMethods } from '@capstan/catalog';
import { type Invocation, type Json, JsonObject, type McpListing } from '@capstan/contracts';
import { type ClaimedDiscovery, type Discovered, getMcpServer, recordMcpDiscovery } from '@capstan/store';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { submit } from '../invocation/submit.js';
import { INTERNAL, underInternalPolicy } from './internal-policy.js';

const RUN_MS = 60_000;
/** A look that no worker has taken by then is given up; the server is looked at again later. */
const WAIT_MS = 120_000;

/** Has a worker look at a server, and makes what it found the server's tools. */
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
  const { descriptors, skipped } = toMcpDescriptors(row.config, found.tools);
  if (skipped.length > 0) gateway.log.warn({ server, skipped }, 'tools of an MCP server cannot be used');
  const listing = toListing(found);
  const { prompts, resources } = found.has;
  const methods = toMcpMethods(row.config, { ...listing, prompts, resources });
  const taken = new Set(methods.map(({ tool_id }) => tool_id));
  return {
    ...{ methods, listing, pin: row.config.pin ?? true },
    descriptors: descriptors.filter(({ tool_id }) => !taken.has(tool_id)),
  };
}

function errorOf({ status, result, invocation_id }: Invocation): string {
  if (result?.error) return result.error;
  if (status === 'queued' || status === 'expired')
    return 'no worker took it; start one with `capstan worker --runner mcp`';
  return `its discovery is ${status} (${invocation_id})`;
}

/** The topic by which gateways hear that prompts or resources changed. */
export const MCP_LISTS = 'mcp-lists';

const Items = z.array(z.custom<Json>(() => true)).default([]);
/** What the runner found. Items that are no objects are of no use to anybody. */
const Found = z.object({
  protocol_version: z.string().nullable().default(null),
  instructions: z.string().nullable().default(null),
  completions: z.boolean().default(false),
  subscribe: z.boolean().default(false),
  has: z.object({ prompts: z.boolean(), resources: z.boolean() }).default({ prompts: false, resources: false }),
  tools: Items,
  prompts: Items,
  resources: Items,
  resource_templates: Items,
});

const toListing = ({ tools, has, ...found }: z.infer<typeof Found>): McpListing => ({
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

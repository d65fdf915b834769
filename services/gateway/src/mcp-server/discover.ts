import { MCP_DISCOVER, toMcpDescriptors } from '@capstan/catalog';
import type { Invocation, Json } from '@capstan/contracts';
import { type ClaimedDiscovery, type Discovered, getMcpServer, recordMcpDiscovery } from '@capstan/store';
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
  if (!changes || Object.values(changes).every((ids) => ids.length === 0)) return;
  relay.publish('refresh', ['tools']);
  await catalog.refresh();
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
  const { descriptors, skipped } = toMcpDescriptors(row.config, toolsIn(result.payload));
  if (skipped.length > 0) gateway.log.warn({ server, skipped }, 'tools of an MCP server cannot be used');
  return { descriptors };
}

function errorOf({ status, result, invocation_id }: Invocation): string {
  if (result?.error) return result.error;
  if (status === 'queued' || status === 'expired')
    return 'no worker took it; start one with `capstan worker --runner mcp`';
  return `its discovery is ${status} (${invocation_id})`;
}

const toolsIn = (payload: Json): Json[] =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload) && Array.isArray(payload.tools)
    ? payload.tools
    : [];

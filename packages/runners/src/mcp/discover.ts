import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { RunOutcome } from '../runner.js';

const MAX_ITEMS = 2000;
const MAX_BYTES = 4 * 1024 * 1024;

type Listing = { method: string; field: string };
const TOOLS: Listing = { method: 'tools/list', field: 'tools' };
const PROMPTS: Listing = { method: 'prompts/list', field: 'prompts' };
const RESOURCES: Listing = { method: 'resources/list', field: 'resources' };
const TEMPLATES: Listing = { method: 'resources/templates/list', field: 'resourceTemplates' };

/** `ttls`: how long each list may be cached, if the server says so. */
type Looking = { client: Client; signal: AbortSignal; timeout: number; ttls: number[] };

/** Lists what a server offers: its tools, and the prompts and resources that its capabilities announce. */
export async function discover(client: Client, signal: AbortSignal, timeout: number): Promise<RunOutcome> {
  const looking: Looking = { client, signal, timeout, ttls: [] };
  const { tools, prompts, resources, completions } = client.getServerCapabilities() ?? {};
  try {
    const found = {
      server_info: client.getServerVersion() ?? null,
      protocol_version: client.getNegotiatedProtocolVersion() ?? null,
      instructions: client.getInstructions() ?? null,
      completions: completions !== undefined,
      subscribe: resources?.subscribe === true,
      has: { prompts: prompts !== undefined, resources: resources !== undefined },
      tools: tools ? await listAll(looking, TOOLS) : [],
      prompts: prompts ? await listAll(looking, PROMPTS) : [],
      resources: resources ? await listAll(looking, RESOURCES) : [],
      resource_templates: resources ? await listAll(looking, TEMPLATES).catch(noTemplates) : [],
    };
    const { ttls } = looking;
    const text = JSON.stringify({ ...found, ttl_ms: ttls.length > 0 ? Math.min(...ttls) : null });
    if (Buffer.byteLength(text) > MAX_BYTES) return refusal(`its list of tools is over ${MAX_BYTES / 1024 / 1024} MiB`);
    return { success: true, payload: JSON.parse(text) };
  } catch (error) {
    if (error instanceof BadListing) return refusal(error.message);
    throw error;
  }
}

/** Many servers have resources but no templates, and some of those do not know the request. */
const noTemplates = (error: unknown): unknown[] => {
  if (error instanceof BadListing) throw error;
  return [];
};

/** Less strict than the SDK: one malformed tool must not hide the others. Users of the list validate each entry. */
async function listAll({ client, signal, timeout, ttls }: Looking, { method, field }: Listing): Promise<unknown[]> {
  const Page = z.looseObject({ [field]: z.array(z.unknown()), nextCursor: z.string().optional(), ttlMs: Ttl });
  const items: unknown[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await client.request({ method, ...(cursor ? { params: { cursor } } : {}) }, Page, { signal, timeout });
    const listed = page[field];
    if (typeof page.ttlMs === 'number') ttls.push(page.ttlMs);
    items.push(...(Array.isArray(listed) ? listed : []));
    cursor = typeof page.nextCursor === 'string' ? page.nextCursor : undefined;
    // A server that repeats a page would be asked forever.
    if (cursor !== undefined && cursors.has(cursor)) throw new BadListing(`its list of ${field} leads back to itself`);
    if (cursor !== undefined) cursors.add(cursor);
    if (items.length > MAX_ITEMS) throw new BadListing(`it lists more than ${MAX_ITEMS} ${field}`);
  } while (cursor);
  return items;
}

/** An invalid time is ignored. */
const Ttl = z.number().nonnegative().optional().catch(undefined);

class BadListing extends Error {}

const refusal = (error: string): RunOutcome => ({ success: false, kind: 'MCP_SERVER_FAILED', error, retryable: false });

import type { Json } from '@capstan/contracts';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import type { RunOutcome } from '../runner.js';

/** Looser than the SDK's: one tool that is spelt wrong must not hide the others. Whoever uses the list checks each. */
const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const MAX_TOOLS = 2000;
const MAX_BYTES = 4 * 1024 * 1024;

export async function discoverTools(client: Client, signal: AbortSignal, timeout: number): Promise<RunOutcome> {
  const tools: unknown[] = [];
  if (client.getServerCapabilities()?.tools) {
    const cursors = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await client.request({ method: 'tools/list', ...(cursor ? { params: { cursor } } : {}) }, Page, {
        signal,
        timeout,
      });
      tools.push(...page.tools);
      cursor = page.nextCursor;
      // A server that gives the same page again would be asked for ever.
      if (cursor !== undefined && cursors.has(cursor)) return refusal('its list of tools leads back to itself');
      if (cursor !== undefined) cursors.add(cursor);
      if (tools.length > MAX_TOOLS) return refusal(`it lists more than ${MAX_TOOLS} tools`);
    } while (cursor);
  }
  const text = JSON.stringify({ server_info: client.getServerVersion() ?? null, tools });
  if (Buffer.byteLength(text) > MAX_BYTES) return refusal(`its list of tools is over ${MAX_BYTES / 1024 / 1024} MiB`);
  return { success: true, payload: JSON.parse(text) as Json };
}

const refusal = (error: string): RunOutcome => ({ success: false, kind: 'MCP_SERVER_FAILED', error, retryable: false });

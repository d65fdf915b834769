import { buffer } from 'node:stream/consumers';
import { resultText } from '@capstan/catalog';
import { type Failure, type Invocation, isObject, type Json, type JsonObject } from '@capstan/contracts';
import { findArtifact, readArtifact } from '@capstan/store/artifact';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { isSpecType } from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { whyRejected } from '../hold/why-rejected.js';
import type { McpVisit } from './exchange.js';

/** Larger artifacts are sent as links. */
const MAX_INLINE_BYTES = 8 * 1024 * 1024;

/** The outcome of a call, as text for the model and ids for the client. */
export async function toCallResult(
  gateway: GatewayContext,
  visit: McpVisit,
  invocation: Invocation,
): Promise<CallToolResult> {
  const { status, result, invocation_id, hold_id } = invocation;
  const { text, ok } = resultText(invocation);
  const _meta = {
    'capstan/invocation_id': invocation_id,
    'capstan/status': status,
    ...(hold_id === null ? {} : { 'capstan/hold_id': hold_id }),
  };
  const isWaiting = result === null && WAITING.has(status);
  if (isWaiting) {
    // The result of a tool with an output schema has to match the schema, unless it is an error.
    const isError = structureOf(gateway, invocation.tool_id) !== undefined;
    return {
      content: [{ type: 'text', text: toWaitingText(visit, invocation) }],
      ...(isError ? { isError } : {}),
      _meta,
    };
  }
  const payload = result?.payload ?? null;
  const answer = invocation.runner === 'mcp' && isObject(payload) && Array.isArray(payload.content) ? payload : null;
  const blocks = answer && Array.isArray(answer.content) ? await toBlocks(gateway, visit, answer.content) : [];
  const said = (await whyRejected(gateway, invocation)) ?? text;
  const content: ContentBlock[] = blocks.length > 0 ? blocks : [{ type: 'text', text: said }];
  if (!ok) return { content, isError: true, _meta };
  const structured = answer ? answer.structuredContent : payload;
  return { content, ...(isObject(structured) ? { structuredContent: structured } : {}), _meta };
}

/** That a call has not ended, and where it is decided if it is held. */
export function toWaitingText({ base_url }: McpVisit, invocation: Invocation): string {
  const { hold_id } = invocation;
  const where = hold_id === null ? '' : ` Decide at ${base_url}/holds/${hold_id}, or: capstan release ${hold_id}`;
  return `${resultText(invocation).text}${where}`;
}

const WAITING: ReadonlySet<string> = new Set(['held', 'deferred', 'queued', 'running']);

/** The schema of a tool's structured content, if it is one that clients of both protocol versions accept. */
export function structureOf({ catalog }: GatewayContext, tool_id: string): JsonObject | undefined {
  const descriptor = catalog.get(tool_id)?.descriptor;
  const { properties } = descriptor?.output_schema ?? {};
  const schema =
    descriptor?.binding.kind === 'mcp'
      ? isObject(properties) && properties.structuredContent
      : descriptor?.output_schema;
  return isObject(schema) && schema.type === 'object' ? schema : undefined;
}

export type RelayedError = { code: number; message: string; data?: unknown };

/** The protocol error that an MCP server answered with; null if there was none. */
export function protocolErrorIn({ runner, result }: Invocation): RelayedError | null {
  const payload = runner === 'mcp' && result?.success === false ? result.payload : null;
  const error = isObject(payload) ? payload.error : null;
  if (!isObject(error) || typeof error.code !== 'number') return null;
  const { code, message, data } = error;
  return { code, message: String(message), ...(data === undefined ? {} : { data }) };
}

/** A refused call: the reason and what to do about it. */
export const toRefusal = (failure: Failure): CallToolResult => ({
  content: [{ type: 'text', text: `${failure.message}\n${failure.suggestion}` }],
  isError: true,
  _meta: {
    'capstan/code': failure.code,
    ...(typeof failure.context.invocation_id === 'string'
      ? { 'capstan/invocation_id': failure.context.invocation_id }
      : {}),
  },
});

/** The content blocks of an MCP server, unchanged; an invalid block is shown as text. */
async function toBlocks(gateway: GatewayContext, visit: McpVisit, blocks: readonly Json[]): Promise<ContentBlock[]> {
  const content: ContentBlock[] = [];
  for (const kept of blocks) {
    const block = await withBlobs(gateway, visit, kept);
    content.push(isSpecType.ContentBlock(block) ? block : { type: 'text', text: JSON.stringify(block) });
  }
  return content;
}

/** Reverses what the runner did: turns artifacts back into images, audio and blobs. Large ones become links. */
export async function withBlobs(gateway: GatewayContext, visit: McpVisit, value: Json): Promise<Json> {
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) items.push(await withBlobs(gateway, visit, item));
    return items;
  }
  if (!isObject(value)) return value;
  const { artifact, ...rest } = value;
  if (isObject(artifact) && typeof artifact.sha256 === 'string')
    return withBlob(gateway, visit, rest, artifact.sha256, String(artifact.name));
  const entries: [string, Json][] = [];
  for (const [name, inner] of Object.entries(value)) entries.push([name, await withBlobs(gateway, visit, inner)]);
  return Object.fromEntries(entries);
}

async function withBlob(
  { store, artifacts }: GatewayContext,
  { principal, base_url }: McpVisit,
  rest: JsonObject,
  sha256: string,
  name: string,
): Promise<Json> {
  const found = await findArtifact(store, principal.tenant, sha256);
  const mimeType = typeof rest.mimeType === 'string' ? rest.mimeType : 'application/octet-stream';
  const uri = `${base_url}/v1/artifacts/${sha256}`;
  if (!found || found.size > MAX_INLINE_BYTES)
    return typeof rest.uri === 'string'
      ? { ...rest, text: `The content is at ${uri}` }
      : { type: 'resource_link', uri, name, mimeType };
  const base64 = (await buffer(await readArtifact(store, artifacts, found))).toString('base64');
  return typeof rest.uri === 'string' ? { ...rest, blob: base64 } : { ...rest, mimeType, data: base64 };
}

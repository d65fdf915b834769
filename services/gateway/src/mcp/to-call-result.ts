import { resultText } from '@capstan/catalog';
import type { Failure, Invocation, Json, JsonObject } from '@capstan/contracts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

type Block = CallToolResult['content'][number];

/** What became of a call, in a form that a model can read and a client can follow up. */
export function toCallResult(invocation: Invocation): CallToolResult {
  const { status, result, invocation_id, hold_id } = invocation;
  const { text, ok } = resultText(invocation);
  const waits = result === null && status !== 'denied';
  const _meta = {
    'capstan/invocation_id': invocation_id,
    'capstan/status': status,
    ...(hold_id === null ? {} : { 'capstan/hold_id': hold_id }),
  };
  if (!ok) return { content: [{ type: 'text', text }], ...(waits ? {} : { isError: true }), _meta };
  const { blocks, structuredContent } = outputOf(invocation);
  return {
    content: blocks ?? [{ type: 'text', text }],
    ...(isObject(structuredContent) ? { structuredContent } : {}),
    _meta,
  };
}

/** What came from another MCP server goes on as it came; of anything else, the payload is the structured content. */
function outputOf({ runner, result }: Invocation): { blocks?: Block[]; structuredContent: Json | undefined } {
  const payload = result?.payload ?? null;
  if (runner !== 'mcp' || !isObject(payload) || !Array.isArray(payload.content)) return { structuredContent: payload };
  return { blocks: payload.content.map(toBlock), structuredContent: payload.structuredContent };
}

/** A call that was not taken: what is wrong, and what to do about it. */
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

/** A block of another server's, as it came; what was kept as an artifact is named. */
function toBlock(block: Json): Block {
  if (!isObject(block)) return { type: 'text', text: JSON.stringify(block) };
  const resource = isObject(block.resource) ? block.resource : null;
  const artifact = isObject(block.artifact) ? block.artifact : resource?.artifact;
  if (isObject(artifact))
    return {
      type: 'resource_link',
      uri: `/v1/artifacts/${artifact.sha256}`,
      name: String(artifact.name),
      mimeType: String(block.mimeType ?? resource?.mimeType ?? 'application/octet-stream'),
    };
  if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: block.text };
  if (resource && typeof resource.uri === 'string' && typeof resource.text === 'string')
    return { type: 'resource', resource: { uri: resource.uri, text: resource.text } };
  return { type: 'text', text: JSON.stringify(block) };
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

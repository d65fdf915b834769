import type { Artifact, Json, JsonObject } from '@capstan/contracts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Call, RunOutcome } from '../runner.js';

type Block = CallToolResult['content'][number];
type Redact = (value: Json) => Json;

/**
 * A tool's answer in the protocol's own spelling, `{content, structuredContent}`: whoever knows MCP knows it. Images, audio
 * and other blobs are kept as artifacts, and their blocks name them. Redacted before anything is cut.
 */
export async function toOutcome(call: Call, result: CallToolResult, redact: Redact): Promise<RunOutcome> {
  const artifacts: Artifact[] = [];
  const blocks: Json[] = [];
  for (const [index, block] of (result.content ?? []).entries())
    blocks.push(await withoutBlob(call, block, index, artifacts));
  const clean = redact(toJson({ content: blocks, structuredContent: result.structuredContent ?? null }));
  const { payload, truncated } = cut(clean, call.limits.max_output_bytes);
  const common = { payload, artifacts, truncated };
  if (!result.isError) return { ...common, success: true };
  return { ...common, success: false, kind: 'TOOL_ERROR', error: errorText(payload), retryable: false };
}

async function withoutBlob(call: Call, block: Block, index: number, artifacts: Artifact[]): Promise<Json> {
  const keep = async (base64: string, media_type: string, stem: string) => {
    const name = `${stem}-${index + 1}.${extension(media_type)}`;
    const artifact = await call.keep({ name, media_type, content: Buffer.from(base64, 'base64') });
    artifacts.push(artifact);
    return { sha256: artifact.sha256, name: artifact.name, size: artifact.size };
  };
  if (block.type === 'image' || block.type === 'audio') {
    const { data, ...rest } = block;
    return toJson({ ...rest, artifact: await keep(data, block.mimeType, block.type) });
  }
  if (block.type === 'resource' && 'blob' in block.resource) {
    const { blob, ...rest } = block.resource;
    const artifact = await keep(blob, block.resource.mimeType ?? 'application/octet-stream', 'resource');
    return toJson({ ...block, resource: { ...rest, artifact } });
  }
  return toJson(block);
}

/** Texts are cut where the limit is reached; structured content is whole or absent. */
function cut(value: Json, max_bytes: number): { payload: JsonObject; truncated: boolean } {
  const { content, structuredContent } = isObject(value) ? value : {};
  let left = max_bytes;
  let truncated = false;
  const shorten = (text: string): string => {
    const bytes = Buffer.from(text);
    left -= bytes.length;
    if (left >= 0) return text;
    truncated = true;
    return bytes
      .subarray(0, Math.max(0, bytes.length + left))
      .toString('utf8')
      .replace(/\ufffd+$/, '');
  };
  const blocks = (Array.isArray(content) ? content : []).map((block): Json => {
    if (!isObject(block)) return block;
    if (typeof block.text === 'string') return { ...block, text: shorten(block.text) };
    const { resource } = block;
    if (isObject(resource) && typeof resource.text === 'string')
      return { ...block, resource: { ...resource, text: shorten(resource.text) } };
    return block;
  });
  if (structuredContent === null || structuredContent === undefined) return { payload: { content: blocks }, truncated };
  if (Buffer.byteLength(JSON.stringify(structuredContent)) > max_bytes)
    return { payload: { content: blocks }, truncated: true };
  return { payload: { content: blocks, structuredContent }, truncated };
}

function errorText({ content }: JsonObject): string {
  const texts = (Array.isArray(content) ? content : []).flatMap((block) =>
    isObject(block) && typeof block.text === 'string' ? [block.text] : [],
  );
  return texts.join('\n').slice(0, 4000) || 'the tool reported an error and said nothing more';
}

const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'text/plain': 'txt',
};
const extension = (media_type: string): string =>
  EXTENSIONS[media_type] ?? /^[\w-]+\/([\w-]{1,16})(?:$|;)/.exec(media_type)?.[1] ?? 'bin';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** It came out of JSON.parse; members that are undefined go. */
const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

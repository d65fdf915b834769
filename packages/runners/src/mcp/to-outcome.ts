import type { Artifact, Json, JsonObject } from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { redactedBytes } from '../redact-bytes.js';
import type { Call, RunOutcome } from '../runner.js';
import { cutAnswer, isObject } from './cut-answer.js';

type Block = CallToolResult['content'][number];

/** Those without a word in them would cost nothing, however many there are. */
const MAX_BLOCKS = 1000;

/**
 * A tool's answer in the protocol's own spelling, `{content, structuredContent}`: whoever knows MCP knows it. Images, audio
 * and other blobs are kept as artifacts, and their blocks name them. Redacted before anything is cut or kept.
 */
export async function toOutcome(call: Call, result: CallToolResult, redact: Redactor): Promise<RunOutcome> {
  const artifacts: Artifact[] = [];
  const blocks: Json[] = [];
  const content = result.content ?? [];
  for (const [index, block] of content.slice(0, MAX_BLOCKS).entries())
    blocks.push(await withoutBlob({ call, redact, artifacts }, block, index));
  const clean = redact.json(toJson({ content: blocks, structuredContent: result.structuredContent ?? null }));
  const { payload, isCut } = cutAnswer(clean, call.limits.max_output_bytes);
  const common = { payload, artifacts, truncated: isCut || content.length > MAX_BLOCKS };
  if (!result.isError) return { ...common, success: true };
  return { ...common, success: false, kind: 'TOOL_ERROR', error: errorText(payload), retryable: false };
}

type Keeping = { call: Call; redact: Redactor; artifacts: Artifact[] };

async function withoutBlob({ call, redact, artifacts }: Keeping, block: Block, index: number): Promise<Json> {
  const keep = async (base64: string, said: string, stem: string) => {
    const media_type = MEDIA_TYPE.test(said) && redact.text(said) === said ? said : 'application/octet-stream';
    const name = `${stem}-${index + 1}.${extension(media_type)}`;
    const content = redactedBytes(Buffer.from(base64, 'base64'), redact);
    const artifact = await call.keep({ name, media_type, content });
    artifacts.push(artifact);
    return { sha256: artifact.sha256, name: artifact.name, size: artifact.size };
  };
  if (block.type === 'image' || block.type === 'audio') {
    const { data, ...rest } = block;
    return toJson({ ...rest, artifact: await keep(data, block.mimeType, block.type) });
  }
  if (block.type === 'resource' && 'blob' in block.resource) {
    const { blob, ...rest } = block.resource;
    const artifact = await keep(blob, block.resource.mimeType ?? '', 'resource');
    return toJson({ ...block, resource: { ...rest, artifact } });
  }
  return toJson(block);
}

function errorText({ content }: JsonObject): string {
  const texts = (Array.isArray(content) ? content : []).flatMap((block) =>
    isObject(block) && typeof block.text === 'string' ? [block.text] : [],
  );
  return texts.join('\n').slice(0, 4000) || 'the tool reported an error and said nothing more';
}

/** What a header of ours can say of it later. */
const MEDIA_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}(?:;[\w.+=\s"-]{0,80})?$/;
const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'text/plain': 'txt',
};
const extension = (media_type: string): string =>
  EXTENSIONS[media_type] ?? /^[\w-]+\/([\w-]{1,16})(?:$|;)/.exec(media_type)?.[1] ?? 'bin';

/** It came out of JSON.parse; members that are undefined go. */
const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

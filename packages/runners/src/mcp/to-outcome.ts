import { type Artifact, isObject, type Json, type JsonObject, toJson } from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import { redactedBytes } from '../redact-bytes.js';
import type { Call, RunOutcome } from '../runner.js';
import { cutAnswer } from './cut-answer.js';

/** Blocks without text do not count towards the size limit, so their number is limited. */
const MAX_BLOCKS = 1000;

/**
 * A tool's result in the protocol's own form, `{content, structuredContent}`. Images, audio and other blobs are kept as artifacts, and their blocks
 * refer to them. Redacted before anything is truncated or kept.
 */
export async function toOutcome(call: Call, result: Answer, redact: Redactor): Promise<RunOutcome> {
  const content = Array.isArray(result.content) ? toJson(result.content) : [];
  const blocks = Array.isArray(content) ? content : [];
  const keeping: Keeping = { call, redact, artifacts: [], number: 0 };
  const kept: Json[] = [];
  for (const block of blocks.slice(0, MAX_BLOCKS)) {
    keeping.number += 1;
    kept.push(await withoutBlobs(keeping, block));
  }
  const clean = redact.json(toJson({ content: kept, structuredContent: result.structuredContent ?? null }));
  const { payload, isCut } = cutAnswer(clean, call.limits.max_output_bytes);
  const common = { payload, artifacts: keeping.artifacts, truncated: isCut || blocks.length > MAX_BLOCKS };
  if (result.isError !== true) return { ...common, success: true };
  return { ...common, success: false, kind: 'TOOL_ERROR', error: errorText(payload), retryable: false };
}

/** The response to any other request, such as a prompt or a resource. It is returned whole or not at all. */
export async function toMethodOutcome(call: Call, { _meta, ...result }: Answer, redact: Redactor): Promise<RunOutcome> {
  const keeping: Keeping = { call, redact, artifacts: [], number: 1 };
  const payload = redact.json(await withoutBlobs(keeping, toJson(result)));
  const { max_output_bytes } = call.limits;
  if (Buffer.byteLength(JSON.stringify(payload)) <= max_output_bytes)
    return { success: true, payload, artifacts: keeping.artifacts };
  const error = `the answer is larger than the ${max_output_bytes} bytes that this call may have`;
  return { success: false, kind: 'TOOL_ERROR', error, retryable: false };
}

type Answer = Record<string, unknown>;
/** `number`: the index of the block, for the names of artifacts. */
type Keeping = { call: Call; redact: Redactor; artifacts: Artifact[]; number: number };

/** Blocks of images and audio have `data`, resources have `blob`. Both become artifacts here. */
async function withoutBlobs(keeping: Keeping, value: Json): Promise<Json> {
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) items.push(await withoutBlobs(keeping, item));
    return items;
  }
  if (!isObject(value)) return value;
  const { data, blob, ...rest } = value;
  const media_type = typeof value.mimeType === 'string' ? value.mimeType : '';
  if ((value.type === 'image' || value.type === 'audio') && typeof data === 'string')
    return { ...rest, artifact: await keep(keeping, data, media_type, value.type) };
  if (typeof value.uri === 'string' && typeof blob === 'string')
    return { ...rest, artifact: await keep(keeping, blob, media_type, 'resource') };
  const entries: [string, Json][] = [];
  for (const [name, inner] of Object.entries(value)) entries.push([name, await withoutBlobs(keeping, inner)]);
  return Object.fromEntries(entries);
}

async function keep(
  { call, redact, artifacts, number }: Keeping,
  base64: string,
  said: string,
  stem: string,
): Promise<Json> {
  const media_type = MEDIA_TYPE.test(said) && redact.text(said) === said ? said : 'application/octet-stream';
  const name = `${stem}-${number}.${extension(media_type)}`;
  const artifact = await call.keep({ name, media_type, content: redactedBytes(Buffer.from(base64, 'base64'), redact) });
  artifacts.push(artifact);
  return { sha256: artifact.sha256, name: artifact.name, size: artifact.size };
}

function errorText({ content }: JsonObject): string {
  const texts = (Array.isArray(content) ? content : []).flatMap((block) =>
    isObject(block) && typeof block.text === 'string' ? [block.text] : [],
  );
  return texts.join('\n').slice(0, 4000) || 'the tool reported an error and said nothing more';
}

/** A media type that is safe in a response header. */
const MEDIA_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}(?:;[\w.+=\s"-]{0,80})?$/;
const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'text/plain': 'txt',
};
const extension = (media_type: string): string =>
  EXTENSIONS[media_type] ?? /^[\w-]+\/([\w-]{1,16})(?:$|;)/.exec(media_type)?.[1] ?? 'bin';

import type { Json } from '@capstan/contracts';
import type { EgressResponse } from '@capstan/egress';
import { z } from 'zod';
import { cutText } from '../cut-text.js';
import { logLine } from '../log-line.js';
import type { RunOutcome } from '../runner.js';
import type { ApiContext, ApiTool } from './api-context.js';
import { decodeText, isBinaryType, isHtmlType, looksBinary, parseContentType } from './content-type.js';
import { invalid, invalidInputs } from './failures.js';
import { filenameOf } from './filename-of.js';
import { sendRequest } from './send-request.js';

const WebFetchInputs = z.strictObject({
  url: z.string().regex(/^https?:\/\//i, 'must start with http:// or https://'),
  method: z.enum(['GET', 'HEAD']).default('GET'),
  as_markdown: z.boolean().default(false),
  as_text: z.boolean().default(false),
});
type WebFetchInputs = z.infer<typeof WebFetchInputs>;

const FIRST_BYTE_MS = 1000;
const BODY_MS = 30_000;
const MAX_BYTES = 10 * 1024 * 1024;
const TIMED_OUT = '\n\n[..more content timed out...]';
const TOO_LARGE = '\n\n[..more content left out: too large...]';
const NO_BINARY = 'Binary content is not supported; only its metadata is given.';
const HEADERS = {
  'user-agent': 'Capstan',
  accept: 'text/html, text/markdown, text/plain, application/json, */*;q=0.8',
};

/** The `timeouts` are defined by the capability; only tests change them. */
export const createWebFetch =
  (timeouts = { first_byte_ms: FIRST_BYTE_MS, body_ms: BODY_MS }): ApiTool =>
  async (context, inputs) => {
    const parsed = WebFetchInputs.safeParse(inputs);
    if (!parsed.success) return invalidInputs(parsed.error);
    const { url, method } = parsed.data;
    if (!URL.canParse(url)) return invalid('url: is not a URL');
    const request = { method, url, headers: HEADERS, body: null, first_byte_timeout_ms: timeouts.first_byte_ms };
    const response = await sendRequest(context, { ...request, signal: context.call.signal });
    const { type, charset } = parseContentType(response.headers['content-type']);
    const about = metadata(url, method, response);
    const declared = declaredSize(response);
    if (method === 'HEAD' || (isBinaryType(type) && declared !== null)) {
      response.discard();
      logLine(context.call, `answered ${response.status}`);
      return succeeded({
        ...about,
        ...(declared !== null && { size: declared }),
        ...(method === 'GET' && { error: NO_BINARY }),
      });
    }
    const max_bytes = context.call.limits.max_response_bytes ?? MAX_BYTES;
    const { bytes, cut } = await response.read({ max_bytes, timeout_ms: timeouts.body_ms });
    logLine(context.call, `answered ${response.status}, ${bytes.length} bytes`);
    const sized = { ...about, size: bytes.length };
    if (isBinaryType(type) || looksBinary(bytes, charset))
      return succeeded({ ...sized, ...(cut && { truncated: true }), error: NO_BINARY }, cut !== null);
    const text = decodeText(bytes, charset, type);
    const { format, content } = await converted(context, text, isHtmlType(type) || looksLikeHtml(text), parsed.data);
    const { kept, truncated } = cutText(context.call.redact.text(content), context.call.limits.max_output_bytes);
    const suffix = cut === 'time' ? TIMED_OUT : cut === 'size' || truncated ? TOO_LARGE : '';
    return succeeded({ ...sized, format, content: kept + suffix, truncated: suffix !== '' }, suffix !== '');
  };

const succeeded = (payload: Json, truncated = false): RunOutcome => ({ success: true, payload, truncated });

/** Null if the server does not declare a size. */
function declaredSize({ headers }: EgressResponse): number | null {
  const text = headers['content-length'];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function metadata(url: string, method: string, response: EgressResponse) {
  const { headers } = response;
  const filename = filenameOf(headers['content-disposition'], response.url);
  return {
    url,
    method,
    ...(response.redirects.length > 0 && { final_url: response.url }),
    status_code: response.status,
    content_type: headers['content-type'] ?? '',
    ...(headers['last-modified'] !== undefined && { last_modified: headers['last-modified'] }),
    ...(filename !== undefined && { filename }),
  };
}

async function converted(
  { converter, call }: ApiContext,
  text: string,
  isHtml: boolean,
  { as_markdown, as_text }: WebFetchInputs,
): Promise<{ format: 'markdown' | 'text' | 'raw'; content: string }> {
  const format = as_markdown ? 'markdown' : as_text ? 'text' : null;
  const content = isHtml && format ? await converter.convert(text, format, call.signal) : null;
  return format && content !== null ? { format, content } : { format: 'raw', content: text };
}

const looksLikeHtml = (text: string): boolean => /^\s{0,200}<(?:!doctype html|html)[\s>]/i.test(text.slice(0, 300));

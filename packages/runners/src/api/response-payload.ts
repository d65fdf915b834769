import { type Json, MAX_RESULT_DEPTH, parseJson } from '@capstan/contracts';
import type { EgressResponse } from '@capstan/egress';
import { cutBase64 } from '../cut-base64.js';
import { cutText } from '../cut-text.js';
import { logLine } from '../log-line.js';
import { redactedBytes } from '../redact-bytes.js';
import type { ToolFailure } from '../runner.js';
import type { ApiContext } from './api-context.js';
import { decodeText, isBinaryType, isJsonType, looksBinary, parseContentType } from './content-type.js';

/** `auto`: by the content type. `raw`: the same, but JSON stays text. */
export type ResponseFormat = 'auto' | 'raw' | 'json' | 'text' | 'base64';

export type ReadResponse = {
  payload: { status_code: number; headers: Record<string, string>; url: string; body: Json; encoding: string };
  truncated: boolean;
};

/** Statuses without a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205]);
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;

/** Reads a whole response. If it is too large, too slow or not in the expected format, the failure includes what was received. */
export async function readResponse(
  { call }: ApiContext,
  response: EgressResponse,
  { format, timeout_ms }: { format: ResponseFormat; timeout_ms: number },
): Promise<ReadResponse | ToolFailure> {
  const max_bytes = call.limits.max_response_bytes ?? MAX_RESPONSE_BYTES;
  const { bytes, cut } = await response.read({ max_bytes, timeout_ms });
  logLine(call, `answered ${response.status}, ${bytes.length} bytes`);
  if (cut === 'size')
    return failed(
      `the response is larger than ${max_bytes} bytes; a policy allows more with max_response_bytes`,
      'TOOL_ERROR',
    );
  if (cut === 'time') return failed(`the response was not complete after ${timeout_ms / 1000} s`, 'TOOL_TIMEOUT');
  const { type, charset } = parseContentType(response.headers['content-type']);
  const base = { status_code: response.status, headers: response.headers, url: response.url };
  const { body, encoding, truncated } = toBody();
  if (format === 'json' && encoding !== 'json' && !truncated)
    return { ...failed('the response is not JSON', 'TOOL_ERROR'), payload: { ...base, body, encoding } };
  return { payload: { ...base, body, encoding }, truncated };

  function toBody(): { body: Json; encoding: string; truncated: boolean } {
    if (format === 'json' && WITHOUT_BODY.has(response.status))
      return { body: null, encoding: 'json', truncated: false };
    const isOpen = format === 'auto' || format === 'raw';
    const isBinary = format === 'base64' || (isOpen && (isBinaryType(type) || looksBinary(bytes, charset)));
    if (isBinary) return shown(cutBase64(redactedBytes(bytes, call.redact), call.limits.max_output_bytes), 'base64');
    const text = decodeText(bytes, charset, type);
    if (
      bytes.length <= call.limits.max_output_bytes &&
      (format === 'json' || (format === 'auto' && isJsonType(type)))
    ) {
      const json = toJson(text);
      if (json !== undefined) return { body: json, encoding: 'json', truncated: false };
    }
    return shown(cutText(call.redact.text(text), call.limits.max_output_bytes), 'text');
  }
}

const shown = ({ kept, truncated }: { kept: string; truncated: boolean }, encoding: string) => ({
  body: kept,
  encoding,
  truncated,
});

const failed = (error: string, kind: ToolFailure['kind']): ToolFailure => ({
  success: false,
  error,
  kind,
  retryable: false,
});

function toJson(text: string): Json | undefined {
  try {
    return parseJson(text, MAX_RESULT_DEPTH);
  } catch {
    return undefined;
  }
}

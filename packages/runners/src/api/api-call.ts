import type { Json, JsonObject } from '@capstan/contracts';
import { z } from 'zod';
import type { RunOutcome, ToolFailure } from '../runner.js';
import type { ApiContext, ApiTool } from './api-context.js';
import { invalid, invalidInputs } from './failures.js';
import { type ResponseFormat, readResponse } from './response-payload.js';
import { isBusy, isRepeatable, sendRequest } from './send-request.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const QueryValue = z.union([z.string(), z.number(), z.boolean()]);

export const ApiCallInputs = z.strictObject({
  method: z
    .preprocess((value) => (typeof value === 'string' ? value.toUpperCase() : value), z.enum(METHODS))
    .default('GET'),
  url: z.string().min(1),
  headers: z.record(z.string(), z.string()).default({}),
  query: z.record(z.string(), z.union([QueryValue, z.array(QueryValue)])).default({}),
  body: z.custom<Json>(() => true).optional(),
  body_type: z.enum(['json', 'text', 'form']).optional(),
  expected_status: z.union([z.int(), z.array(z.int()).min(1), z.literal('any')]).optional(),
  response: z.enum(['auto', 'json', 'text', 'base64']).default('auto'),
  follow_redirects: z.boolean().default(true),
  timeout_ms: z.int().positive().optional(),
});
export type ApiCallInputs = z.infer<typeof ApiCallInputs>;

export const apiCall: ApiTool = async (context, inputs) => {
  const parsed = ApiCallInputs.safeParse(inputs);
  return parsed.success ? callApi(context, parsed.data) : invalidInputs(parsed.error);
};

/** A fallback. The worker's deadline normally comes first and ends the call as timed out. */
const LATE_MS = 5000;

/** Sends one HTTP request as described. An unexpected status is a failure that includes the response. */
export async function callApi(
  context: ApiContext,
  inputs: ApiCallInputs,
  format = formatFor(inputs),
): Promise<RunOutcome> {
  const url = withQuery(inputs.url, inputs.query);
  if (url === null) return invalid('url: is not a URL');
  const content = encodeBody(inputs);
  if ('success' in content) return content;
  const timeout_ms = Math.min(inputs.timeout_ms ?? Number.POSITIVE_INFINITY, context.call.limits.timeout_ms + LATE_MS);
  const headers = withContentType(inputs.headers, content.type);
  const { method, follow_redirects } = inputs;
  const timeouts = { first_byte_timeout_ms: timeout_ms, timeout_ms };
  const request = { method, url, headers, body: content.body, ...timeouts, follow_redirects };
  const started = performance.now();
  const response = await sendRequest(context, { ...request, signal: context.call.signal });
  const left_ms = Math.max(1, Math.round(timeout_ms - (performance.now() - started)));
  const read = await readResponse(context, response, { format, timeout_ms: left_ms });
  if ('success' in read) return read;
  const { payload, truncated } = read;
  if (isExpected(response.status, inputs.expected_status)) return { success: true, payload, truncated };
  return {
    success: false,
    error: `${method} ${new URL(response.url).host} answered ${response.status}`,
    kind: 'TOOL_ERROR',
    retryable: isBusy(response.status) && isRepeatable(request),
    payload,
    truncated,
  };
}

/** A response to HEAD has no body that could be JSON. */
const formatFor = ({ method, response }: ApiCallInputs): ResponseFormat => (method === 'HEAD' ? 'auto' : response);

const isExpected = (status: number, expected: ApiCallInputs['expected_status']): boolean =>
  expected === 'any' || (expected === undefined ? status < 400 : [expected].flat().includes(status));

function withQuery(url: string, query: ApiCallInputs['query']): string | null {
  if (!URL.canParse(url)) return null;
  const parsed = new URL(url);
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) parsed.searchParams.append(name, String(one));
  return parsed.href;
}

type Content = { body: string | null; type: string | null };

function encodeBody({ body, body_type, method }: ApiCallInputs): Content | ToolFailure {
  if (body === undefined) return { body: null, type: null };
  if (method === 'GET' || method === 'HEAD') return invalid(`body: ${method} takes none`);
  switch (body_type ?? (typeof body === 'string' ? 'text' : 'json')) {
    case 'json':
      return { body: JSON.stringify(body), type: 'application/json' };
    case 'text':
      if (typeof body !== 'string') return invalid('body: must be a string for body_type text');
      return { body, type: 'text/plain; charset=utf-8' };
    case 'form':
      return encodeForm(body);
  }
}

function encodeForm(body: Json): Content | ToolFailure {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return invalid('body: must be an object for body_type form');
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries<JsonObject[string]>(body))
    for (const one of [value].flat()) form.append(name, typeof one === 'string' ? one : JSON.stringify(one));
  return { body: form.toString(), type: 'application/x-www-form-urlencoded' };
}

const withContentType = (headers: Record<string, string>, type: string | null): Record<string, string> =>
  type === null || Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
    ? headers
    : { ...headers, 'content-type': type };

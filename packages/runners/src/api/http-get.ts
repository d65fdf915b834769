import { z } from 'zod';
import { ApiCallInputs, callApi } from './api-call.js';
import type { ApiTool } from './api-context.js';
import { invalidInputs } from './failures.js';

const HttpGetInputs = z.strictObject({
  url: z.string().min(1),
  headers: z.record(z.string(), z.string()).optional(),
  /** In seconds, as in Capsule. */
  timeout: z.number().positive().optional(),
});

/** Capsule's http.get: any response is a success. A text body is returned unchanged, any other as base64. */
export const httpGet: ApiTool = async (context, inputs) => {
  const parsed = HttpGetInputs.safeParse(inputs);
  if (!parsed.success) return invalidInputs(parsed.error);
  const { timeout, ...rest } = parsed.data;
  const timeout_ms = timeout === undefined ? undefined : Math.max(1, Math.round(timeout * 1000));
  return callApi(context, ApiCallInputs.parse({ ...rest, timeout_ms, expected_status: 'any' }), 'raw');
};

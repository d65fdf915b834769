import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Binding, JsonObject, Limits } from '@capstan/contracts';
import { afterAll } from 'vitest';
import type { Call } from '../../runner.js';
import { testCall, testDescriptor } from '../../testing/test-call.js';
import { type ApiRunnerOptions, createApiRunner } from '../create-api-runner.js';

export const OPEN: Limits = { timeout_ms: 10_000, max_output_bytes: 1_000_000, deny_private_ips: false };

/** Runs the tools for HTTP, until this test file has ended. */
export function useTestApi(options: ApiRunnerOptions = {}) {
  const runner = createApiRunner(options);
  afterAll(() => runner.close?.());
  return (tool_id: string, inputs: JsonObject, over: Partial<Call> = {}, binding: Binding = { kind: 'native' }) =>
    runner.run(testCall(testDescriptor({ tool_id, runner: 'api', binding }), { inputs, limits: OPEN, ...over }));
}

/** Answers what it was asked. */
export const echo: RequestListener = async (request, response) => {
  const { method, url, headers } = request;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ method, url, headers, body: await text(request) }));
};

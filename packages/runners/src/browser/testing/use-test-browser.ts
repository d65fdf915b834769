import type { RequestListener } from 'node:http';
import type { Binding, JsonObject, Limits } from '@capstan/contracts';
import { createEgress } from '@capstan/egress';
import { afterAll, beforeAll } from 'vitest';
import type { Call } from '../../runner.js';
import { startServer } from '../../testing/serve.js';
import { testCall, testDescriptor } from '../../testing/test-call.js';
import { createBrowserRunner } from '../create-browser-runner.js';
import type { LaunchOptions } from '../launch/launch-browser.js';

// Names mean loopback, so that pages have several origins.
export const loopback = () => createEgress({ resolve: async () => ['127.0.0.1'] });

export const OPEN: Limits = { timeout_ms: 20_000, max_output_bytes: 1_000_000, deny_private_ips: false };

/** Runs the browser's tools in one browser of this test file's own. */
export function useTestBrowser(options: LaunchOptions = {}) {
  const runner = createBrowserRunner({ egress: loopback(), path: process.env.PATH, ...options });
  const run = (tool_id: string, inputs: JsonObject, over: Partial<Call> = {}, binding: Binding = { kind: 'native' }) =>
    Promise.resolve(
      runner.run(testCall(testDescriptor({ tool_id, runner: 'browser', binding }), { inputs, limits: OPEN, ...over })),
    );
  // The first start unpacks a browser where none is installed.
  beforeAll(async () => {
    const { url, close } = await startServer((_, response) => response.end('warm'));
    await run('browser.navigate', { url });
    close();
  });
  afterAll(() => runner.close?.());
  return run;
}

export const page =
  (body: string): RequestListener =>
  (_, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html>${body}`);

import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '@capstan/contracts';
import { afterAll, describe, expect, test } from 'vitest';
import { testCall, testDescriptor } from '../../testing/test-call.js';
import { createAnalyzeRunner } from '../create-analyze-runner.js';
import { createSchemaAnalyst } from './schema-analyst.js';

const descriptor = testDescriptor({ tool_id: 'analyze.schema', runner: 'analyze' });
const runner = createAnalyzeRunner();
afterAll(() => runner.close?.());

const run = (inputs: JsonObject, { timeout_ms = 30_000, signal = new AbortController().signal } = {}) =>
  runner.run(
    testCall(descriptor, {
      inputs,
      signal,
      limits: { timeout_ms, max_output_bytes: 1_000_000 },
    }),
  );

/** Every level asks twice for the one below it. */
const doubling = (levels: number, lowest: JsonObject): JsonObject => {
  const $defs: JsonObject = { level0: lowest };
  for (let level = 1; level <= levels; level += 1) {
    const below = { $ref: `#/$defs/level${level - 1}` };
    $defs[`level${level}`] = { allOf: [below, below] };
  }
  return { $defs, $ref: `#/$defs/level${levels}` };
};
const ENDLESS = { operation: 'validate', schema: doubling(60, { type: 'number' }), document: 1 };

describe('analyze.schema', () => {
  test('answers, and refuses invalid inputs', async () => {
    expect(await run({ operation: 'infer', samples: [1] })).toMatchObject({ payload: { schema: { type: 'integer' } } });
    expect(await run({ operation: 'guess' })).toMatchObject({ kind: 'INVALID_INPUTS' });
  });

  test('the worker stays responsive meanwhile, and a cancel stops it', async () => {
    const controller = new AbortController();
    const asked = run(ENDLESS, { signal: controller.signal });
    await setImmediate();
    controller.abort();
    expect(await asked).toMatchObject({ success: false, kind: 'CANCELED' });
  });

  test('the time limit stops it, and the next call is answered', async () => {
    expect(await run(ENDLESS, { timeout_ms: 300 })).toMatchObject({
      kind: 'TOOL_TIMEOUT',
      error: expect.stringContaining('took too long'),
    });
    expect(await run({ operation: 'infer', samples: [1] })).toMatchObject({ success: true });
  });

  test('an analysis that needs too much memory is stopped', async () => {
    const greedy = `import { parentPort } from 'node:worker_threads';
      const all = [];
      parentPort.on('message', () => { for (;;) all.push(new Array(1e5).fill(all.length)); });`;
    const analyst = createSchemaAnalyst({ thread: new URL(`data:text/javascript,${encodeURIComponent(greedy)}`) });
    expect(await analyst.analyze({}, testCall(descriptor))).toMatchObject({
      kind: 'TOOL_ERROR',
      error: expect.stringContaining('more memory'),
    });
  });

  test('inputs that are nested too deeply are an error of the call', async () => {
    const before = JSON.parse(`${'{"items":'.repeat(3000)}{}${'}'.repeat(3000)}`);
    expect(await run({ operation: 'diff', before, after: {} })).toMatchObject({ success: true });
    const sample = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    const refused = { success: false, error: 'the inputs are nested too deep' };
    expect(await run({ operation: 'infer', samples: [sample] })).toMatchObject(refused);
  });
});

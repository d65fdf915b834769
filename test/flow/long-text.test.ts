import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { refusalOf } from './refusal-of.js';
import { type System, startSystem } from './start-system.js';

const ADD = 'cap:test_math:add';
/** Several hundred thousand characters of YAML, which take a parser a while. */
const LONG = Array.from({ length: 8_000 }, (_, at) => `  - { id: r${at}, effect: allow, match: { tool: "t${at}" } }\n`);

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
});

/** The gateway shares this process, so while its event loop is blocked, so is this one. */
async function longestPause(work: Promise<unknown>): Promise<{ share: number }> {
  const started = performance.now();
  let [last, longest, over] = [started, 0, false];
  void work.finally(() => {
    over = true;
  });
  while (!over) {
    await delay(5);
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }
  return { share: longest / (last - started) };
}

test('parsing a long policy does not block the gateway, and a mistake in it is refused with line and column', async () => {
  const policy = `boundary: deny_by_default\nrules:\n${LONG.join('')}efect: allow\n`;
  const refused = refusalOf(system.admin.policies.explain({ tool_id: ADD, policy }));
  expect((await longestPause(refused)).share).toBeLessThan(0.5);
  expect((await refused).problem).toMatchObject({
    status: 400,
    code: 1002,
    detail: 'line 8003, column 1: efect: is not a known field',
    errors: [{ field: 'efect', line: 8003, column: 1 }],
  });
});

test('a long policy decides like a short one', async () => {
  const rule = `  - { id: sums, effect: allow, match: { tool: "${ADD}" } }\n`;
  const policy = `boundary: deny_by_default\nrules:\n${LONG.slice(0, 3000).join('')}${rule}`;
  await system.admin.policies.put('default', policy);
  const sum = await system.admin.submit({ tool_id: ADD, inputs: { a: 2, b: 3 } }, { wait_s: 30 });
  expect(sum).toMatchObject({ decision: { rule_matched: 'sums' }, result: { payload: { result: 5 } } });
});

test('parsing a long commands file does not block the gateway, and a mistake in it is refused with line and column', async () => {
  const manifest = { id: 'long', name: 'Long', version: '1.0.0' };
  const refused = refusalOf(system.admin.extensions.install({ manifest, commands: `rules:\n${LONG.join('')}a: [` }));
  expect((await longestPause(refused)).share).toBeLessThan(0.5);
  expect((await refused).problem).toMatchObject({
    status: 400,
    errors: [{ file: 'commands.yaml', field: expect.stringMatching(/^line 8002, column /) }],
  });
});

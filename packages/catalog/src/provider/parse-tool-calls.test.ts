import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Json, Provider } from '@capstan/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseToolCalls } from './parse-tool-calls.js';

const corpus = new URL('../../../../../shared/corpora/tool-calls/', import.meta.url);
const FOLDERS: [string, Provider][] = [
  ['openai', 'openai'],
  ['anthropic', 'anthropic'],
  ['google', 'gemini'],
];

/** The calls in each file, read by hand: [name, id, whether the provider runs it]. */
const EXPECTED: Record<string, [string, string | null, boolean][]> = {
  'anthropic-clear-tool-uses.1.json': [],
  'anthropic-programmatic-tool-calling.1.json': [
    ['code_execution', 'srvtoolu_01CberhXc9TgYXrCZU8bQoks', true],
    ['rollDie', 'toolu_01PMcE1JBKCeLjn83cgUCvR5', false],
    ['rollDie', 'toolu_01MZf5QJ1EQyd2yGyeLzBxAS', false],
    ['rollDie', 'toolu_01T7Upuuv8C71nq7DZ9ZPNQW', false],
    ['rollDie', 'toolu_016Da1tDet9Bf7dAdYTkF5Ar', false],
  ],
  'anthropic-tool-search-deferred-bm25.2.json': [['executeEditorOperation', 'toolu_019oFKxH7xzoKZtBX1mBGHeJ', false]],
  'anthropic-web-fetch-tool-20260209.1.json': [
    ['code_execution', 'srvtoolu_015CSHH7X69AhdK9gNzotEeh', true],
    ['web_fetch', 'srvtoolu_0152eMmZnBDZc4C2miykFWW5', true],
  ],
  'anthropic-web-fetch-tool.error.json': [['web_fetch', 'srvtoolu_013gia34XNKyTfwHxaPCKEVd', true]],
  'google-tool-call-gemini3.json': [['weather', null, false]],
  'openai-apply-patch-tool.1.json': [['apply_patch', 'call_CdXiGtcRl49Q6Ek20tG9lYOr', false]],
  'openai-tool-search.1.json': [
    ['tool_search', 'tsc_04bd69550b37ba260069aa689605cc8190bd2d9bf1199fa630', true],
    ['get_weather', 'call_ytqozXvUXG8NN1b0IODxzUaE', false],
  ],
  'openai-mcp-tool-approval.1.json': [
    ['create_short_url', 'mcpr_04f6b17429cf2b02006949a6712b1081968b3c7a72dec695d8', true],
  ],
  'openai-mcp-tool-approval.4.json': [
    ['create_short_url', 'mcp_04f6b17429cf2b02006949a6908fc4819686c02f71f7faecc6', true],
  ],
  'programmatic-tool-calling.1.json': [
    ['program', 'call_O2IvSLQcJ0bwIvJZ2ovGV69M', true],
    ['getInventory', 'call_rj6LW6NEyodD5YVKeoexoLNz', false],
  ],
};

describe.skipIf(!existsSync(corpus))('responses that providers really sent', () => {
  const files = FOLDERS.flatMap(([folder, provider]) =>
    (existsSync(corpus) ? readdirSync(new URL(`${folder}/`, corpus)) : []).map((file) => ({ file, folder, provider })),
  );

  test.each(files)('$folder/$file gives its calls with name, arguments and id', ({ file, folder, provider }) => {
    const text = readFileSync(new URL(`${folder}/${file}`, corpus), 'utf8');
    const { calls, format } = parseToolCalls(provider, JSON.parse(text));
    expect(format).toBe(folder === 'openai' ? 'openai_responses' : provider);
    for (const call of calls) {
      expect(call.problem).toBeNull();
      expect(call.arguments).toBeTypeOf('object');
    }
    const expected = EXPECTED[file];
    if (expected) expect(calls.map(({ name, id, by_provider }) => [name, id, by_provider])).toEqual(expected);
    expect(parseToolCalls(provider, text).calls).toEqual(calls);
  });

  test('the arguments are returned as sent', () => {
    const read = (path: string): Json => JSON.parse(readFileSync(new URL(path, corpus), 'utf8'));
    const [weather] = parseToolCalls('gemini', read('google/google-tool-call-gemini3.json')).calls;
    expect(weather?.arguments).toEqual({ location: 'San Francisco' });
    const search = parseToolCalls('openai_responses', read('openai/openai-tool-search.1.json')).calls;
    expect(search[1]?.arguments).toEqual({ location: 'San Francisco, CA', unit: 'fahrenheit' });
    const [patch] = parseToolCalls('openai', read('openai/openai-apply-patch-tool.1.json')).calls;
    expect(patch?.arguments).toMatchObject({ operation: { type: 'create_file', path: 'shopping-checklist.md' } });
  });
});

describe('a body that is not a response of the provider is refused', () => {
  test.each<[Provider, Json]>([
    ['openai', {}],
    ['openai', { content: [] }],
    ['openai', []],
    ['anthropic', { choices: [] }],
    ['anthropic', [{ choices: [] }]],
    ['gemini', { content: [] }],
    ['gemini', 'hello'],
    ['openai_responses', null],
  ])('%s: %j is refused with words', (provider, response) => {
    expect(() => parseToolCalls(provider, response)).toThrow(/response: /);
  });

  test('parsing arbitrary input throws no other error', () => {
    const key = fc.constantFrom(
      'choices',
      'message',
      'tool_calls',
      'delta',
      'output',
      'type',
      'content',
      'candidates',
      'parts',
      'functionCall',
      'partialArgs',
      'item',
      'response',
      'input',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<Json>(null, 1, '', 'tool_use', 'function_call', '{"a":1}', true),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.constantFrom<Provider>('openai', 'openai_responses', 'anthropic', 'gemini'),
        tree,
        (provider, response) => {
          try {
            parseToolCalls(provider, JSON.parse(JSON.stringify(response)));
          } catch (error) {
            expect(error).toMatchObject({ kind: 'INVALID_REQUEST' });
          }
        },
      ),
    );
  });
});

import type { Json, Provider } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parseToolCalls } from './parse-tool-calls.js';

const chat = (...tool_calls: Json[]): Json => ({
  choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls } }],
});
const fn = (id: Json, name: string, args: Json): Json => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const found = (provider: Provider, response: Json) =>
  parseToolCalls(provider, response).calls.map(({ id, name, arguments: args }) => [id, name, args]);

describe('OpenAI chat', () => {
  test('parallel calls keep their order, also with null content and numeric ids', () => {
    expect(found('openai', chat(fn('call_1', 'a', '{"x":1}'), fn(7, 'b', ''), fn('c', 'd', '{}')))).toEqual([
      ['call_1', 'a', { x: 1 }],
      [7, 'b', {}],
      ['c', 'd', {}],
    ]);
  });

  test('a message without calls, an error and the older function_call are recognized', () => {
    expect(found('openai', { choices: [{ message: { role: 'assistant', content: 'hi' } }] })).toEqual([]);
    expect(found('openai', { error: { message: 'overloaded' } })).toEqual([]);
    const older = { choices: [{ message: { role: 'assistant', function_call: { name: 'f', arguments: '{"a":1}' } } }] };
    expect(found('openai', older)).toEqual([[null, 'f', { a: 1 }]]);
  });

  test.each<[string, Json]>([
    ['text that is no JSON', '{"a": '],
    ['an array', '[1]'],
    ['a number', '5'],
    ['a string', '"x"'],
    ['too deep a nest', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('%s for arguments is a problem to tell the model, not an error', (_, args) => {
    const { calls } = parseToolCalls('openai', chat(fn('c1', 'add', args), fn('c2', 'add', '{"a":1}')));
    expect(calls.map(({ problem }) => problem === null)).toEqual([false, true]);
    expect(calls[0]?.problem).toContain('arguments');
  });

  const chunk = (...tool_calls: Json[]): Json => ({ choices: [{ index: 0, delta: { tool_calls } }] });
  const STREAM: Json[] = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'let me see' } }] },
    chunk({ index: 0, id: 'call_a', type: 'function', function: { name: 'add', arguments: '' } }),
    chunk({ index: 0, function: { arguments: '{"a":1' } }),
    chunk({ index: 1, id: 'call_b', type: 'function', function: { name: 'sub', arguments: '{"b"' } }),
    chunk({ index: 0, function: { arguments: ',"b":"é"}' } }, { index: 1, function: { arguments: ':2}' } }),
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage: { total_tokens: 3 } },
  ];
  const WHOLE = [
    ['call_a', 'add', { a: 1, b: 'é' }],
    ['call_b', 'sub', { b: 2 }],
  ];

  test.each<[string, Json]>([
    ['chunks', STREAM],
    [
      'server-sent events',
      `: ping\n\n${STREAM.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`,
    ],
    [
      'events with CRLF',
      `${STREAM.map((one) => `event: x\r\ndata: ${JSON.stringify(one)}\r\n\r\n`).join('')}data: [DONE]`,
    ],
    ['events without empty lines', STREAM.map((one) => `data: ${JSON.stringify(one)}`).join('\n')],
    ['a JSON value a line', STREAM.map((one) => JSON.stringify(one)).join('\n')],
    ['an array of event texts', STREAM.map((one) => `data: ${JSON.stringify(one)}\n\n`)],
  ])('a stream as %s is put together', (_, response) => {
    expect(found('openai', response)).toEqual(WHOLE);
  });

  test('chunks without an index, or with one index for all calls, are assembled correctly', () => {
    const piece = (index: number | undefined, id: string | undefined, name: string | undefined, args: string): Json =>
      chunk(JSON.parse(JSON.stringify({ index, id, function: { name, arguments: args } })));
    for (const index of [undefined, 0])
      expect(
        found('openai', [
          piece(index, 'a', 'f', '{"x":'),
          piece(index, undefined, undefined, '1}'),
          piece(index, 'b', 'g', '{}'),
        ]),
      ).toEqual([
        ['a', 'f', { x: 1 }],
        ['b', 'g', {}],
      ]);
  });
});

import type { Json, Provider } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parseToolCalls } from './parse-tool-calls.js';

const found = (provider: Provider, response: Json) =>
  parseToolCalls(provider, response).calls.map(({ id, name, arguments: args }) => [id, name, args]);

describe('OpenAI responses', () => {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'add', arguments: '' };
  const events: Json[] = [
    { type: 'response.created', response: { output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '{"a":' },
    { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '1}' },
  ];

  test('a truncated stream is read as far as it goes, a complete one by its last event', () => {
    expect(found('openai', events)).toEqual([['call_1', 'add', { a: 1 }]]);
    const done = { type: 'response.output_item.done', output_index: 0, item: { ...item, arguments: '{"a":2}' } };
    expect(found('openai', [...events, done])).toEqual([['call_1', 'add', { a: 2 }]]);
    const completed = { type: 'response.completed', response: { output: [{ ...item, arguments: '{"a":3}' }] } };
    expect(found('openai_responses', [...events, done, completed])).toEqual([['call_1', 'add', { a: 3 }]]);
  });

  test('consecutive responses are all read', () => {
    const done = (id: string): Json => ({
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...item, call_id: id },
    });
    const created: Json = { type: 'response.created', response: { output: [] } };
    expect(found('openai', [created, done('a'), created, done('b')]).map(([id]) => id)).toEqual(['a', 'b']);
  });

  test('a broken event is skipped unless it may contain a part of a call, which is refused', () => {
    const lines = events.map((event) => JSON.stringify(event));
    expect(found('openai', ['{"type":"response.created"', ...lines].join('\n'))).toEqual([['call_1', 'add', { a: 1 }]]);
    expect(() => found('openai', [...lines, '{"type":"x","delta":"'].join('\n'))).toThrow(/neither JSON/);
  });

  test('the text of a custom tool is its input, and a call with its output beside it does not run again', () => {
    const output = [
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: '*** Begin' },
      { type: 'shell_call', call_id: 'c2', action: { commands: ['ls'] } },
      { type: 'shell_call_output', call_id: 'c2', output: [] },
    ];
    const { calls } = parseToolCalls('openai', { object: 'response', output });
    expect(calls).toMatchObject([
      { id: 'c1', name: 'patch', arguments: { input: '*** Begin' }, by_provider: false },
      { id: 'c2', name: 'shell', by_provider: true },
    ]);
  });
});

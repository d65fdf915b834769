import type { Json, Provider } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parseToolCalls } from './parse-tool-calls.js';

const found = (provider: Provider, response: Json) =>
  parseToolCalls(provider, response).calls.map(({ id, name, arguments: args }) => [id, name, args]);

describe('Anthropic', () => {
  test('a stream is assembled from text, arguments in pieces, missing ones and whole ones', () => {
    const start = (index: number, content_block: Json): Json => ({ type: 'content_block_start', index, content_block });
    const json = (index: number, partial_json: string): Json => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json },
    });
    const use = (id: string, name: string, input: Json = {}): Json => ({ type: 'tool_use', id, name, input });
    const events: Json[] = [
      { type: 'message_start', message: { role: 'assistant', content: [] } },
      start(0, { type: 'text', text: '' }),
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hm' } },
      { type: 'ping' },
      start(1, use('t1', 'add')),
      start(2, use('t2', 'now')),
      json(1, ''),
      json(1, '{"a": 1'),
      json(2, ''),
      json(1, ', "b": 2}'),
      start(3, use('t3', 'whole', { x: [1] })),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ];
    const expected = [
      ['t1', 'add', { a: 1, b: 2 }],
      ['t2', 'now', {}],
      ['t3', 'whole', { x: [1] }],
    ];
    expect(found('anthropic', events)).toEqual(expected);
    const text = events.map((event) => `event: e\ndata: ${JSON.stringify(event)}\n\n`).join('');
    expect(found('anthropic', text)).toEqual(expected);
  });

  test('consecutive messages are all read, but an interrupted one is dropped', () => {
    const start: Json = { type: 'message_start', message: { content: [] } };
    const use = (id: string): Json => ({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id, name: 'f', input: {} },
    });
    const stop: Json = { type: 'message_stop' };
    const ids = (events: Json[]) => parseToolCalls('anthropic', events).calls.map(({ id }) => id);
    expect(ids([start, use('a'), stop, start, use('b'), stop])).toEqual(['a', 'b']);
    expect(ids([start, use('a'), start, use('b'), stop])).toEqual(['b']);
    expect(ids([start, use('a')])).toEqual(['a']);
  });

  test('a stream that ends within the arguments is reported to the model', () => {
    const events: Json[] = [
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'f', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a' } },
    ];
    expect(parseToolCalls('anthropic', events).calls[0]?.problem).toContain('not valid JSON');
  });
});

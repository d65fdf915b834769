import type { Json, Provider } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parseToolCalls } from './parse-tool-calls.js';

const found = (provider: Provider, response: Json) =>
  parseToolCalls(provider, response).calls.map(({ id, name, arguments: args }) => [id, name, args]);

describe('Gemini', () => {
  const body = (...parts: Json[]): Json => ({ candidates: [{ content: { role: 'model', parts } }] });

  test('calls are read with or without an id and arguments', () => {
    const parts = [
      { text: 'x' },
      { functionCall: { name: 'a' } },
      { functionCall: { id: '9', name: 'b', args: { c: 1 } } },
    ];
    expect(found('gemini', body(...parts))).toEqual([
      [null, 'a', {}],
      ['9', 'b', { c: 1 }],
    ]);
    expect(found('gemini', [body(...parts.slice(0, 2)), body(...parts.slice(2)), { usageMetadata: {} }])).toHaveLength(
      2,
    );
    expect(found('gemini', { promptFeedback: { blockReason: 'SAFETY' } })).toEqual([]);
  });

  test('responses of the Interactions API are read from steps, whole and streamed', () => {
    const step = { type: 'function_call', id: 'x', name: 'f', arguments: { a: 1 } };
    const search = { type: 'google_search_call', id: 'g', arguments: { queries: [] } };
    expect(
      parseToolCalls('gemini', { object: 'interaction', steps: [{ type: 'thought' }, search, step] }).calls,
    ).toMatchObject([
      { name: 'google_search', by_provider: true },
      { id: 'x', name: 'f', arguments: { a: 1 }, by_provider: false },
    ]);
    const events: Json[] = [
      { event_type: 'step.start', index: 1, step: { ...step, arguments: {} } },
      { event_type: 'step.delta', index: 1, delta: { arguments: '{"a":' } },
      { event_type: 'step.delta', index: 1, delta: { arguments: '1}' } },
    ];
    expect(found('gemini', events)).toEqual([['x', 'f', { a: 1 }]]);
  });

  test('arguments in parts are written to their paths', () => {
    const part = (call: Json) => body({ functionCall: call });
    const value = (jsonPath: string, more: { [key: string]: Json }): Json => ({
      partialArgs: [{ jsonPath, ...more }],
      willContinue: true,
    });
    expect(
      found('gemini', [
        part({ name: 'f', id: 'i', willContinue: true }),
        part(value('$.city', { stringValue: 'New ', willContinue: true })),
        part(value('$.city', { stringValue: 'York' })),
        part(value('$.items[1].n', { numberValue: 2 })),
        part(value('$.__proto__.x', { boolValue: true })),
        part({}),
        part({ name: 'g', args: { a: null } }),
      ]),
    ).toEqual([
      ['i', 'f', JSON.parse('{"city":"New York","items":[null,{"n":2}],"__proto__":{"x":true}}')],
      [null, 'g', { a: null }],
    ]);
  });
});

import type { Json, ProviderCall } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { toMessages } from './to-messages.js';

describe('messages', () => {
  const call = (over: Partial<ProviderCall> = {}): ProviderCall => ({
    id: 'c1',
    name: 'f',
    arguments: {},
    kind: 'function',
    problem: null,
    by_provider: false,
    ...over,
  });
  const [good, bad] = [
    { text: 'fine', ok: true },
    { text: 'no', ok: false },
  ];

  test('have the format of each provider', () => {
    const both = [
      { call: call(), result: good },
      { call: call({ id: 2 }), result: bad },
    ];
    expect(toMessages('openai', both)).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: 'fine' },
      { role: 'tool', tool_call_id: 2, content: 'no' },
    ]);
    expect(toMessages('anthropic', both)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'fine' },
          { type: 'tool_result', tool_use_id: 2, content: 'no', is_error: true },
        ],
      },
    ]);
    expect(
      toMessages('gemini', [
        { call: call({ id: null }), result: good },
        { call: call(), result: bad },
      ]),
    ).toEqual([
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'f', response: { output: 'fine' } } },
          { functionResponse: { id: 'c1', name: 'f', response: { error: 'no' } } },
        ],
      },
    ]);
    expect(toMessages('anthropic', [])).toEqual([]);
  });

  test.each<[string, Json]>([
    ['function_call', { type: 'function_call_output', call_id: 'c1', output: 'fine' }],
    ['custom_tool_call', { type: 'custom_tool_call_output', call_id: 'c1', output: 'fine' }],
    ['apply_patch_call', { type: 'apply_patch_call_output', call_id: 'c1', status: 'completed', output: 'fine' }],
    ['local_shell_call', { type: 'local_shell_call_output', id: 'c1', output: 'fine' }],
  ])('a %s of the Responses API has an output of its own kind', (kind, item) => {
    expect(toMessages('openai_responses', [{ call: call({ kind }), result: good }])).toEqual([item]);
  });

  test('a call of the Interactions API is answered by a step', () => {
    const kind = 'interaction_function_call';
    expect(toMessages('gemini', [{ call: call({ kind }), result: bad }])).toEqual([
      { type: 'function_result', call_id: 'c1', name: 'f', result: 'no', is_error: true },
    ]);
  });

  test('an older function call is answered in the older format', () => {
    expect(toMessages('openai', [{ call: call({ id: null, kind: 'function_call' }), result: good }])).toEqual([
      { role: 'function', name: 'f', content: 'fine' },
    ]);
  });
});

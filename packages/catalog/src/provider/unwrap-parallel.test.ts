import type { Json } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { parseToolCalls } from './parse-tool-calls.js';
import { toMessages } from './to-messages.js';

const chat = (name: string, args: Json) => ({
  choices: [
    {
      message: {
        role: 'assistant',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name, arguments: JSON.stringify(args) } },
          { id: 'c2', type: 'function', function: { name: 'alone', arguments: '{}' } },
        ],
      },
    },
  ],
});
const USES = {
  tool_uses: [
    { recipient_name: 'functions.add', parameters: { a: 1 } },
    { recipient_name: 'say', parameters: '{"text":"hi"}' },
  ],
};

test.each(['multi_tool_use.parallel', 'multi_tool_use_parallel'])(
  'the calls within %s become separate calls',
  (name) => {
    const { calls } = parseToolCalls('openai', chat(name, USES));
    expect(calls).toMatchObject([
      { id: 'c1', name: 'add', arguments: { a: 1 }, via: name, problem: null },
      { id: 'c1', name: 'say', arguments: { text: 'hi' }, via: name, problem: null },
      { id: 'c2', name: 'alone' },
    ]);
    expect(calls[2]).not.toHaveProperty('via');
  },
);

test('the calls within multi_tool_use.parallel are found in the Responses API, too', () => {
  const item = { type: 'function_call', call_id: 'c1', name: 'multi_tool_use.parallel', arguments: USES };
  const { calls } = parseToolCalls('openai', { output: [item] });
  expect(calls.map(({ name }) => name)).toEqual(['add', 'say']);
});

test('the calls within multi_tool_use.parallel are answered by one message, in order', () => {
  const { calls } = parseToolCalls('openai', chat('multi_tool_use.parallel', USES));
  const answered = calls.map((call) => ({ call, result: { text: `of ${call.name}`, ok: call.name !== 'say' } }));
  expect(toMessages('openai', answered)).toEqual([
    {
      role: 'tool',
      tool_call_id: 'c1',
      content: '[{"name":"add","output":"of add"},{"name":"say","error":"of say"}]',
    },
    { role: 'tool', tool_call_id: 'c2', content: 'of alone' },
  ]);
});

test('two wrappers without an id are answered by separate messages', () => {
  const call = (name: string, via: string) => ({
    ...{ id: null, name, arguments: {}, kind: 'function_call', problem: null, by_provider: false, via },
  });
  const answered = [call('a', 'one'), call('b', 'two')].map((each) => ({ call: each, result: { text: '', ok: true } }));
  expect(toMessages('openai', answered)).toMatchObject([
    { role: 'function', name: 'one' },
    { role: 'function', name: 'two' },
  ]);
});

test.each<[Json]>([[{}], [{ tool_uses: [] }], [{ tool_uses: 'add' }], [{ tool_uses: [1] }]])(
  'multi_tool_use.parallel with %j says to the model what it takes',
  (args) => {
    const { calls } = parseToolCalls('openai', chat('multi_tool_use.parallel', args));
    expect(calls).toMatchObject([{ id: 'c1', problem: expect.stringContaining('recipient_name') }, { id: 'c2' }]);
  },
);

import { describe, expect, test } from 'vitest';
import { testCall } from '../../testing/test-call.js';
import { anthropicAnswer, data, events, openaiAnswer, refuse } from '../testing/answers.js';
import { TOOL, useTestModel } from '../testing/use-test-model.js';

const { asked, answerWith, runnerFor, settings } = useTestModel();

describe.each([
  {
    provider: 'openai' as const,
    answer: openaiAnswer,
    model: 'm-1',
    stop: 'stop',
    path: '/v1/chat/completions',
    key: { authorization: 'Bearer llm-key-of-the-operator' },
  },
  {
    provider: 'anthropic' as const,
    answer: anthropicAnswer,
    model: 'c-1',
    stop: 'end_turn',
    path: '/v1/messages',
    key: { 'x-api-key': 'llm-key-of-the-operator', 'anthropic-version': '2023-06-01' },
  },
])('the format of $provider', ({ provider, answer, model, stop, path, key }) => {
  test('an answer is streamed piece by piece, and its tokens are counted', async () => {
    answerWith(answer('It ', 'is ', 'fine ü😀.'));
    const logged: string[] = [];
    const outcome = await runnerFor(settings(provider)).run(
      testCall(TOOL, { inputs: { content: { status: 200 }, question: 'Well?' }, log: (_, text) => logged.push(text) }),
    );
    expect(outcome).toEqual({
      success: true,
      payload: { answer: 'It is fine ü😀.', model, stop_reason: stop, source: 'content', content_cut: false },
      truncated: false,
      facts: {
        usage: { input_tokens: 1200, output_tokens: 34 },
        cost_units: 1.37,
        observed: { domains: ['127.0.0.1'] },
      },
    });
    expect(logged).toEqual(['It ', 'is ', 'fine ü😀.']);
    expect(asked).toMatchObject([{ path, headers: key, body: { model: 'm', stream: true } }]);
    expect(JSON.stringify(asked[0]?.body)).toContain('Question: Well?');
  });

  test('a temporary refusal is retried a few times', async () => {
    answerWith(refuse(429), refuse(503), answer('Yes.'));
    const call = testCall(TOOL, { inputs: { content: 'x' } });
    expect(await runnerFor(settings(provider)).run(call)).toMatchObject({ payload: { answer: 'Yes.' } });
    answerWith(...Array.from({ length: 10 }, () => refuse(529)));
    expect(await runnerFor(settings(provider)).run(call)).toMatchObject({
      success: false,
      kind: 'TOOL_ERROR',
      retryable: true,
      error: "the model's endpoint answered 529: busy",
    });
    expect(asked).toHaveLength(4);
  });

  test('an answer that ends early is a failure', async () => {
    const broken =
      provider === 'openai'
        ? [data({ error: { message: 'overloaded' } })]
        : [data({ type: 'error', error: { message: 'overloaded' } }, 'error')];
    answerWith(events(broken));
    const call = testCall(TOOL, { inputs: { content: 'x' } });
    expect(await runnerFor(settings(provider)).run(call)).toMatchObject({
      error: "the model's endpoint broke off: overloaded",
      retryable: true,
    });
    answerWith(
      events([
        data({ type: 'content_block_delta', delta: { text: 'Half' }, choices: [{ delta: { content: 'Half' } }] }),
      ]),
    );
    expect(await runnerFor(settings(provider)).run(call)).toMatchObject({ success: false, retryable: true });
  });
});

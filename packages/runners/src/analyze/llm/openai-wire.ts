import { countAt, type LlmWire, type Piece, piece, textAt } from './llm-wire.js';

/** Chat Completions, as defined by OpenAI and implemented by most servers. */
export const openaiWire: LlmWire = {
  request: ({ base_url, model, api_key, max_tokens }, { system, user }) => ({
    url: `${base_url}/chat/completions`,
    headers: api_key === undefined ? {} : { authorization: `Bearer ${api_key}` },
    body: {
      model,
      max_tokens,
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
    },
  }),
  event: (message) => ({ ...usageOf(message), ...choiceOf(message, 'delta') }),
  whole: (body) => ({ ...usageOf(body), ...choiceOf(body, 'message'), done: true }),
};

const choiceOf = (message: unknown, member: 'delta' | 'message'): Piece =>
  piece({
    text: textAt(message, 'choices', 0, member, 'content'),
    stop_reason: textAt(message, 'choices', 0, 'finish_reason'),
    model: textAt(message, 'model'),
    error: textAt(message, 'error', 'message') ?? textAt(message, 'error'),
  });

const usageOf = (message: unknown): Piece =>
  piece({
    input_tokens: countAt(message, 'usage', 'prompt_tokens'),
    output_tokens: countAt(message, 'usage', 'completion_tokens'),
  });

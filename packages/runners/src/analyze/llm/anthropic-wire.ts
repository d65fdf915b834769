import { at, countAt, type LlmWire, piece, textAt } from './llm-wire.js';

const VERSION = '2023-06-01';

/** Anthropic's Messages API. */
export const anthropicWire: LlmWire = {
  request: ({ base_url, model, api_key, max_tokens }, { system, user }) => ({
    url: `${base_url.endsWith('/v1') ? base_url : `${base_url}/v1`}/messages`,
    headers: { 'anthropic-version': VERSION, ...(api_key === undefined ? {} : { 'x-api-key': api_key }) },
    body: { model, max_tokens, stream: true, system, messages: [{ role: 'user', content: user }] },
  }),
  event: (message) => {
    switch (textAt(message, 'type')) {
      case 'message_start':
        return piece({
          input_tokens: countAt(message, 'message', 'usage', 'input_tokens'),
          output_tokens: countAt(message, 'message', 'usage', 'output_tokens'),
          model: textAt(message, 'message', 'model'),
        });
      case 'content_block_delta':
        return piece({ text: textAt(message, 'delta', 'text') });
      case 'message_delta':
        return piece({
          output_tokens: countAt(message, 'usage', 'output_tokens'),
          stop_reason: textAt(message, 'delta', 'stop_reason'),
        });
      case 'message_stop':
        return { done: true };
      case 'error':
        return { error: textAt(message, 'error', 'message') ?? 'the stream broke off' };
      default:
        return {};
    }
  },
  whole: (body) => ({
    ...piece({
      text: textOf(at(body, 'content')),
      input_tokens: countAt(body, 'usage', 'input_tokens'),
      output_tokens: countAt(body, 'usage', 'output_tokens'),
      stop_reason: textAt(body, 'stop_reason'),
      model: textAt(body, 'model'),
      error: textAt(body, 'error', 'message'),
    }),
    done: true,
  }),
};

const textOf = (blocks: unknown): string | undefined =>
  Array.isArray(blocks) ? blocks.map((block) => textAt(block, 'text') ?? '').join('') : undefined;

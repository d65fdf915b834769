import type { Json, Provider } from '@capstan/contracts';

export const PROVIDERS: Provider[] = ['openai', 'openai_responses', 'anthropic', 'gemini'];

export type Call = { id: string; name: string; args: Json };

/** A model's response with these calls, in the format of each provider. */
export const RESPONSES: Record<Provider, (calls: Call[]) => Json> = {
  openai: (calls) => ({
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: calls.map(({ id, name, args }) => ({
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(args) },
          })),
        },
      },
    ],
  }),
  openai_responses: (calls) => ({
    object: 'response',
    output: calls.map(({ id, name, args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    })),
  }),
  anthropic: (calls) => ({
    role: 'assistant',
    stop_reason: 'tool_use',
    content: [
      { type: 'text', text: 'Let me see.' },
      ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
    ],
  }),
  gemini: (calls) => ({
    candidates: [
      { content: { role: 'model', parts: calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } })) } },
    ],
  }),
};

/** [id, text, succeeded] of every tool result. OpenAI's formats have no field for success, so it is read from the text. */
export function textsIn(provider: Provider, messages: Json[]): [Json, string, boolean][] {
  const sent = JSON.parse(JSON.stringify(messages));
  const isFine = (text: string) => !/^(Error:|\[HELD\]|\[DENIED\])/.test(text);
  type Answer = Record<string, string>;
  switch (provider) {
    case 'openai':
      return sent.map(({ tool_call_id, content }: Answer) => [tool_call_id, content, isFine(content ?? '')]);
    case 'openai_responses':
      return sent.map(({ call_id, output }: Answer) => [call_id, output, isFine(output ?? '')]);
    case 'anthropic':
      return sent[0].content.map(({ tool_use_id, content, is_error }: Answer) => [tool_use_id, content, !is_error]);
    case 'gemini':
      return sent[0].parts.map(
        ({ functionResponse: { id, response } }: { functionResponse: { id: string; response: Answer } }) =>
          'error' in response ? [id, response.error, false] : [id, response.output, true],
      );
  }
}

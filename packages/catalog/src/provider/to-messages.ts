import type { Json, JsonObject, Provider, ProviderCall } from '@capstan/contracts';
import { INTERACTION_CALL } from './gemini-interaction.js';
import type { CallResult } from './result-text.js';

export type AnsweredCall = { call: ProviderCall; result: CallResult };

/** Formats the messages to append after the model's own, in its provider's format. */
export function toMessages(format: Provider, answered: readonly AnsweredCall[]): Json[] {
  if (answered.length === 0) return [];
  switch (format) {
    case 'openai':
      return joinWrapped(answered).map(chatMessage);
    case 'openai_responses':
      return joinWrapped(answered).map(responsesItem);
    case 'anthropic':
      // All results go into one message; the API refuses them otherwise.
      return [{ role: 'user', content: answered.map(anthropicBlock) }];
    case 'gemini':
      return answered.some(({ call }) => call.kind === INTERACTION_CALL)
        ? answered.map(interactionResult)
        : [{ role: 'user', parts: answered.map(geminiPart) }];
  }
}

/** Calls wrapped in one call are answered together. As JSON, so that no result can be mistaken for another. */
function joinWrapped(answered: readonly AnsweredCall[]): AnsweredCall[] {
  const joined: AnsweredCall[][] = [];
  for (const each of answered) {
    const before = joined.at(-1)?.[0]?.call;
    const { via, id } = each.call;
    if (via !== undefined && before?.via === via && before.id === id) joined.at(-1)?.push(each);
    else joined.push([each]);
  }
  return joined.flatMap((group) => {
    const [first] = group;
    if (first?.call.via === undefined) return group;
    const parts = group.map(({ call: { name }, result: { text, ok } }) => ({
      name,
      ...(ok ? { output: text } : { error: text }),
    }));
    const ok = group.every(({ result }) => result.ok);
    return { call: { ...first.call, name: first.call.via }, result: { text: JSON.stringify(parts), ok } };
  });
}

const chatMessage = ({ call, result }: AnsweredCall): JsonObject =>
  call.kind === 'function_call'
    ? { role: 'function', name: call.name, content: result.text }
    : { role: 'tool', tool_call_id: call.id, content: result.text };

/** Each kind of call has its own kind of output item. */
function responsesItem({ call: { id, kind }, result: { text, ok } }: AnsweredCall): JsonObject {
  switch (kind) {
    case 'apply_patch_call':
      return { type: 'apply_patch_call_output', call_id: id, status: ok ? 'completed' : 'failed', output: text };
    case 'local_shell_call':
      return { type: 'local_shell_call_output', id, output: text };
    case 'shell_call':
      return {
        type: 'shell_call_output',
        call_id: id,
        output: [{ stdout: ok ? text : '', stderr: ok ? '' : text, outcome: { type: 'exit', exit_code: ok ? 0 : 1 } }],
      };
    default:
      return { type: `${kind}_output`, call_id: id, output: text };
  }
}

const anthropicBlock = ({ call: { id }, result: { text, ok } }: AnsweredCall): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: text,
  ...(ok ? {} : { is_error: true }),
});

const geminiPart = ({ call: { id, name }, result: { text, ok } }: AnsweredCall): JsonObject => ({
  functionResponse: { ...(id === null ? {} : { id }), name, response: ok ? { output: text } : { error: text } },
});

const interactionResult = ({ call: { id, name }, result: { text, ok } }: AnsweredCall): JsonObject => ({
  type: 'function_result',
  call_id: id,
  name,
  result: text,
  ...(ok ? {} : { is_error: true }),
});

import type { JsonObject, ProviderCall } from '@capstan/contracts';
import { readArguments } from './read-arguments.js';
import { at, isObject, textOf } from './shape.js';

/** OpenAI's models sometimes call this instead of several tools at once, though nobody offered it; some servers write it without the dot. */
const WRAPPER = /^(?:functions\.)?multi_tool_use[._]parallel$/;
const PREFIX = /^functions\./;

/** The calls within such a call. They have its id and its kind, because one answer is expected for all of them. */
export function unwrapParallel(call: ProviderCall): ProviderCall[] {
  if (!WRAPPER.test(call.name) || call.problem !== null) return [call];
  const uses = at(call.arguments, 'tool_uses');
  if (!Array.isArray(uses) || uses.length === 0 || !uses.every(isObject))
    return [{ ...call, problem: 'tool_uses must be a list of {recipient_name, parameters}' }];
  return uses.map((use) => toCall(call, use));
}

const toCall = (wrapper: ProviderCall, use: JsonObject): ProviderCall => ({
  ...wrapper,
  name: textOf(use.recipient_name).replace(PREFIX, ''),
  ...readArguments(use.parameters),
  via: wrapper.name,
});

import { isObject, type JsonObject, type ProviderCall } from '@capstan/contracts';
import { readArguments } from './read-arguments.js';
import { at, textOf } from './shape.js';

/** OpenAI's models sometimes call this tool, which nobody offered, instead of several tools at once. Some servers write it without the dot. */
const WRAPPER = /^(?:functions\.)?multi_tool_use[._]parallel$/;
const PREFIX = /^functions\./;

/** The calls inside such a call. They share its id and kind, because they are answered together. */
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

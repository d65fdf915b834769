import type { Json, JsonObject, ProviderCall } from '@capstan/contracts';
import { readArguments } from './read-arguments.js';
import { at, idOf, isObject, objects, textOf } from './shape.js';

/** Chat Completions. Null when the body is nothing of the kind. */
export function chatCalls(body: Json): ProviderCall[] | null {
  if (isObject(at(body, 'error'))) return [];
  const message = messageOf(body);
  if (message === null) return null;
  // Alternatives (n > 1) are for somebody to choose from, and are not all to be carried out; the first one is.
  const calls = objects(at(message, 'tool_calls')).map(toCall);
  const legacy = at(message, 'function_call');
  return isObject(legacy) ? [...calls, { ...functionCall(null, legacy), kind: 'function_call' }] : calls;
}

function messageOf(body: Json): JsonObject | null {
  const choices = at(body, 'choices');
  if (Array.isArray(choices)) {
    const message = at(choices[0], 'message');
    return isObject(message) ? message : {};
  }
  const message = at(body, 'message') ?? body;
  return isObject(message) && (at(message, 'role') === 'assistant' || at(message, 'tool_calls') !== undefined)
    ? message
    : null;
}

function toCall(call: JsonObject): ProviderCall {
  const custom = at(call, 'custom');
  if (isObject(custom)) return { ...customCall(idOf(call.id), custom), kind: 'custom' };
  const named = at(call, 'function');
  return { ...functionCall(idOf(call.id), isObject(named) ? named : call), kind: 'function' };
}

type Plain = Omit<ProviderCall, 'kind'>;

const functionCall = (id: ProviderCall['id'], call: JsonObject): Plain => ({
  id,
  name: textOf(call.name),
  ...readArguments(call.arguments),
  by_provider: false,
});

/** A custom tool takes free text; one of ours takes an object, so text that is one is read as it. */
export function customCall(id: ProviderCall['id'], call: JsonObject): Plain {
  const read = readArguments(call.input);
  const free = read.problem === null ? read : { arguments: { input: call.input ?? '' }, problem: null };
  return { id, name: textOf(call.name), ...free, by_provider: false };
}

type Part = { index: Json | undefined; call: JsonObject };

/** The chunks of a stream as the body they make up; null when they are nothing of the kind. */
export function assembleChat(chunks: Json[]): Json {
  if (!chunks.some((chunk) => Array.isArray(at(chunk, 'choices')))) return null;
  const parts: Part[] = [];
  const legacy: JsonObject = {};
  for (const choice of chunks.flatMap((chunk) => objects(at(chunk, 'choices')).slice(0, 1))) {
    if ((at(choice, 'index') ?? 0) !== 0) continue;
    const whole = at(choice, 'message');
    if (isObject(whole)) return { choices: [choice] };
    const delta = at(choice, 'delta');
    for (const call of objects(at(delta, 'tool_calls'))) addPart(parts, call);
    const named = at(delta, 'function_call');
    if (isObject(named)) append(legacy, named);
  }
  const message: JsonObject = { role: 'assistant', tool_calls: parts.map(({ call }) => call) };
  if (Object.keys(legacy).length > 0) message.function_call = legacy;
  return { choices: [{ index: 0, message }] };
}

/**
 * A chunk belongs to the call of its index. Some servers that speak this format leave the index out, or give every
 * parallel call the same one; a new id with a name then begins a new call.
 */
function addPart(parts: Part[], delta: JsonObject): void {
  const index = at(delta, 'index');
  const id = idOf(at(delta, 'id'));
  const kind = isObject(at(delta, 'custom')) ? 'custom' : 'function';
  const named = at(delta, kind);
  const known = index === undefined ? parts.at(-1) : parts.findLast((part) => part.index === index);
  const begins = id !== null && idOf(known?.call.id) !== id && textOf(at(named, 'name')) !== '';
  const part = known && !begins ? known : { index, call: {} };
  if (part !== known) parts.push(part);
  if (id !== null) part.call.id ??= id;
  if (!isObject(named)) return;
  const inner = part.call[kind];
  const target = isObject(inner) ? inner : {};
  part.call[kind] = target;
  append(target, named);
}

function append(target: JsonObject, delta: JsonObject): void {
  if (!textOf(target.name)) target.name = textOf(delta.name);
  for (const key of ['arguments', 'input']) {
    const more = delta[key];
    const before = target[key];
    if (typeof more === 'string' && (before === undefined || typeof before === 'string'))
      target[key] = `${before ?? ''}${more}`;
    else if (isObject(more)) target[key] = more;
  }
}

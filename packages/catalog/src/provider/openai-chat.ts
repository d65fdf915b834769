import { isObject, type Json, type JsonObject, type ProviderCall } from '@capstan/contracts';
import { readArguments } from './read-arguments.js';
import { at, idOf, objects, textOf } from './shape.js';

/** Calls in a response of Chat Completions. Null if the body has another format. */
export function chatCalls(body: Json): ProviderCall[] | null {
  if (isObject(at(body, 'error'))) return [];
  const message = messageOf(body);
  if (message === null) return null;
  // With n > 1, choosing among alternatives is up to the application. Only the calls of the first one are run.
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

/** A custom tool takes free text, while Capstan's tools take an object. Text that is a JSON object is parsed. */
export function customCall(id: ProviderCall['id'], call: JsonObject): Plain {
  const read = readArguments(call.input);
  const free = read.problem === null ? read : { arguments: { input: call.input ?? '' }, problem: null };
  return { id, name: textOf(call.name), ...free, by_provider: false };
}

type Part = { index: Json | undefined; call: JsonObject };

/** Assembles the chunks of a stream into a body; null if they have another format. */
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
 * Chunks belong to the call with the same index. Some compatible servers omit the index or use one index for all parallel calls, so a new id with a
 * name starts a new call.
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

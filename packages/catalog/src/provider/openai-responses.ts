import type { Json, JsonObject, ProviderCall } from '@capstan/contracts';
import { customCall } from './openai-chat.js';
import { readArguments } from './read-arguments.js';
import { at, idOf, isObject, objects, textOf } from './shape.js';

/** The Responses API. Null when the body is nothing of the kind. */
export function responsesCalls(body: Json): ProviderCall[] | null {
  const inner = at(body, 'response');
  const response = isObject(inner) ? inner : body;
  const output = at(response, 'output');
  if (!Array.isArray(output)) return isObject(at(response, 'error')) ? [] : null;
  const items = objects(output);
  const answered = new Set(items.filter(isOutput).map((item) => idOf(item.call_id)));
  return items.flatMap((item) => {
    const call = toCall(item);
    if (!call) return [];
    // What has its output beside it was carried out by the provider: a hosted shell, a search.
    return [answered.has(call.id) ? { ...call, by_provider: true } : call];
  });
}

const isOutput = (item: JsonObject) => textOf(item.type).endsWith('_output') && idOf(item.call_id) !== null;

/** Items that carry no call, whatever they are named. */
const isCall = (type: string) => type.endsWith('_call') || type === 'program' || type === 'mcp_approval_request';
/** Answered by the provider even where it has an id to answer to. */
const BY_PROVIDER: ReadonlySet<string> = new Set(['program', 'mcp_call', 'mcp_approval_request']);

function toCall(item: JsonObject): ProviderCall | null {
  const kind = textOf(item.type);
  if (!isCall(kind)) return null;
  const id = idOf(item.call_id);
  if (kind === 'custom_tool_call') return { ...customCall(id ?? idOf(item.id), item), kind };
  return {
    id: id ?? idOf(item.id),
    name: textOf(item.name) || kind.replace(/_call$/, ''),
    ...readArguments(item.arguments === undefined ? detailOf(item) : item.arguments),
    kind,
    // Only what has an id to answer to waits for an answer.
    by_provider: BY_PROVIDER.has(kind) || (kind !== 'function_call' && id === null),
  };
}

const ENVELOPE: ReadonlySet<string> = new Set(['id', 'type', 'status', 'call_id', 'name', 'caller']);

/** Calls of the provider's own tools spread their arguments over the item: `operation`, `action`, `code`, `queries` … */
const detailOf = (item: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([key]) => !ENVELOPE.has(key)));

/** The events of a stream as the body they make up. Several responses one after the other are one. */
export function assembleResponses(events: Json[]): Json {
  if (!events.some((event) => textOf(at(event, 'type')).startsWith('response.'))) return null;
  const responses: Json[][] = [[]];
  for (const event of events) {
    if (at(event, 'type') === 'response.created') responses.push([]);
    responses.at(-1)?.push(event);
  }
  return { output: responses.flatMap(outputOf) };
}

/** The final response, else the items as far as they came. */
function outputOf(events: Json[]): JsonObject[] {
  const final = events
    .map((event) => objects(at(at(event, 'response'), 'output')))
    .findLast((output) => output.length > 0);
  if (final) return final;
  const items = new Map<Json, JsonObject>();
  for (const event of events) {
    const place = at(event, 'output_index') ?? at(event, 'item_id') ?? at(at(event, 'item'), 'id') ?? null;
    const item = at(event, 'item');
    const type = textOf(at(event, 'type'));
    if (isObject(item)) items.set(place, type.endsWith('.done') ? item : { ...item });
    else addDelta(items.get(place), type, event);
  }
  return [...items.values()];
}

/** `response.function_call_arguments.delta` and the like; `.done` has the whole. */
function addDelta(item: JsonObject | undefined, type: string, event: Json): void {
  const field = fieldOf(type);
  if (!item || !field) return;
  if (type.endsWith('.done')) item[field] = at(event, field) ?? item[field] ?? '';
  else item[field] = textOf(item[field]) + textOf(at(event, 'delta'));
}

function fieldOf(type: string): string | null {
  if (type.includes('_arguments.')) return 'arguments';
  if (type.includes('custom_tool_call_input.')) return 'input';
  return type.includes('code_interpreter_call_code.') ? 'code' : null;
}

import { isObject, type Json, type JsonObject, type ProviderCall } from '@capstan/contracts';
import { customCall } from './openai-chat.js';
import { readArguments } from './read-arguments.js';
import { at, idOf, objects, textOf } from './shape.js';

/** Calls in a response of the Responses API. Null if the body has another format. */
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
    // A call whose output is in the same response was run by the provider, such as a hosted shell or a search.
    return [answered.has(call.id) ? { ...call, by_provider: true } : call];
  });
}

const isOutput = (item: JsonObject) => textOf(item.type).endsWith('_output') && idOf(item.call_id) !== null;

/** Items that are not calls although their names look like it. */
const isCall = (type: string) => type.endsWith('_call') || type === 'program' || type === 'mcp_approval_request';
/** Calls that the provider answers itself, even if they have an id. */
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
    // Only calls with an id can be answered.
    by_provider: BY_PROVIDER.has(kind) || (kind !== 'function_call' && id === null),
  };
}

const ENVELOPE: ReadonlySet<string> = new Set(['id', 'type', 'status', 'call_id', 'name', 'caller']);

/** Calls of hosted tools have their arguments directly on the item: `operation`, `action`, `code`, `queries` … */
const detailOf = (item: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([key]) => !ENVELOPE.has(key)));

/** Assembles the events of a stream into a body. Consecutive responses are merged. */
export function assembleResponses(events: Json[]): Json {
  if (!events.some((event) => textOf(at(event, 'type')).startsWith('response.'))) return null;
  const responses: Json[][] = [[]];
  for (const event of events) {
    if (at(event, 'type') === 'response.created') responses.push([]);
    responses.at(-1)?.push(event);
  }
  return { output: responses.flatMap(outputOf) };
}

/** The output of the final response, otherwise the items received so far. */
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

/** Handles `response.function_call_arguments.delta` and similar events; `.done` has the complete value. */
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

import { isObject, type Json, type JsonObject, type ProviderCall } from '@capstan/contracts';
import { readArguments } from './read-arguments.js';
import { at, idOf, objects, textOf } from './shape.js';

const BY_PROVIDER: ReadonlySet<string> = new Set(['server_tool_use', 'mcp_tool_use']);

/** Calls in a response of the Messages API. Null if the body has another format. */
export function anthropicCalls(body: Json): ProviderCall[] | null {
  const content = at(body, 'content');
  if (typeof content === 'string') return [];
  if (!Array.isArray(content)) return isObject(at(body, 'error')) ? [] : null;
  return objects(content).flatMap((block) => {
    const kind = textOf(block.type);
    if (kind !== 'tool_use' && !BY_PROVIDER.has(kind)) return [];
    return [
      {
        id: idOf(block.id),
        name: textOf(block.name),
        ...readArguments(block.input),
        kind,
        by_provider: BY_PROVIDER.has(kind),
      },
    ];
  });
}

type Block = { block: JsonObject; json: string };

/**
 * Assembles the events of a stream into a message. Consecutive messages are merged. If a new message starts before the previous one has ended (a
 * proxy retried), the unfinished one is dropped.
 */
export function assembleAnthropic(events: Json[]): Json {
  if (!events.some((event) => /^(message|content_block)_/.test(textOf(at(event, 'type'))))) return null;
  const content: JsonObject[] = [];
  let blocks = new Map<Json, Block>();
  for (const event of events) {
    const type = textOf(at(event, 'type'));
    if (type === 'message_start') {
      blocks = new Map();
      // Some proxies send a message with its content in the first event.
      content.push(...objects(at(at(event, 'message'), 'content')));
    } else if (type === 'message_stop') {
      content.push(...[...blocks.values()].map(toBlock));
      blocks = new Map();
    } else addPart(blocks, event);
  }
  return { role: 'assistant', content: [...content, ...[...blocks.values()].map(toBlock)] };
}

function addPart(blocks: Map<Json, Block>, event: Json): void {
  const index = at(event, 'index') ?? 0;
  const started = at(event, 'content_block');
  if (isObject(started)) blocks.set(index, { block: started, json: '' });
  const delta = at(event, 'delta');
  const known = blocks.get(index);
  if (known && at(delta, 'type') === 'input_json_delta') known.json += textOf(at(delta, 'partial_json'));
}

/** A block that was sent as a whole has its input in the first event. */
const toBlock = ({ block, json }: Block): JsonObject => (json === '' ? block : { ...block, input: json });

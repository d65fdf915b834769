import type { Json, JsonObject, ProviderCall } from '@capstan/contracts';
import { readArguments } from './read-arguments.js';
import { at, idOf, isObject, objects, textOf } from './shape.js';

const BY_PROVIDER: ReadonlySet<string> = new Set(['server_tool_use', 'mcp_tool_use']);

/** Messages. Null when the body is nothing of the kind. */
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
 * The events of a stream as the message they make up. Several messages one after the other are one; of a message that
 * another broke into (a proxy that tried again), nothing is kept.
 */
export function assembleAnthropic(events: Json[]): Json {
  if (!events.some((event) => /^(message|content_block)_/.test(textOf(at(event, 'type'))))) return null;
  const content: JsonObject[] = [];
  let blocks = new Map<Json, Block>();
  for (const event of events) {
    const type = textOf(at(event, 'type'));
    if (type === 'message_start') {
      blocks = new Map();
      // Some proxies send a message that has its content from the start.
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

/** A block that came whole has its input from the start, and no pieces of it. */
const toBlock = ({ block, json }: Block): JsonObject => (json === '' ? block : { ...block, input: json });

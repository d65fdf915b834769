import { isObject, type Json, type JsonObject, type ProviderCall } from '@capstan/contracts';
import { assembleInteraction, interactionCalls } from './gemini-interaction.js';
import { setPartialArgs } from './gemini-partial-args.js';
import { readArguments } from './read-arguments.js';
import { at, idOf, objects, textOf } from './shape.js';

/** Calls in a response of generateContent. Null if the body has another format. */
export function geminiCalls(body: Json): ProviderCall[] | null {
  const steps = at(body, 'steps');
  if (Array.isArray(steps)) return interactionCalls(objects(steps));
  const parts = partsOf(body);
  return parts === null ? null : parts.flatMap(toCall);
}

/** The parts of the first candidate. Choosing among candidates is up to the application. */
function partsOf(body: Json): JsonObject[] | null {
  const inner = at(body, 'response');
  const response = isObject(inner) ? inner : body;
  const candidates = at(response, 'candidates');
  if (Array.isArray(candidates)) return objects(at(at(candidates[0], 'content'), 'parts'));
  const parts = at(response, 'parts') ?? at(at(response, 'content'), 'parts');
  if (Array.isArray(parts)) return objects(parts);
  // A blocked prompt has no candidates, and the last chunk of a stream may contain only token counts.
  const known = ['promptFeedback', 'usageMetadata', 'error'].some((key) => isObject(at(response, key)));
  return known ? [] : null;
}

function toCall(part: JsonObject): ProviderCall[] {
  const call = part.functionCall ?? part.function_call;
  if (isObject(call))
    return [{ ...named(call), ...readArguments(call.args), kind: 'functionCall', by_provider: false }];
  const code = part.executableCode ?? part.executable_code;
  if (isObject(code))
    return [
      {
        id: idOf(code.id),
        name: 'code_execution',
        arguments: code,
        problem: null,
        kind: 'executableCode',
        by_provider: true,
      },
    ];
  const own = part.toolCall ?? part.tool_call;
  if (!isObject(own)) return [];
  const name = textOf(own.toolType) || textOf(own.name);
  return [{ id: idOf(own.id), name, ...readArguments(own.args), kind: 'toolCall', by_provider: true }];
}

const named = (call: JsonObject) => ({ id: idOf(call.id), name: textOf(call.name) });

/** Assembles the chunks of a stream into a body. Arguments may arrive in parts, each with the path of its value. */
export function assembleGemini(chunks: Json[]): Json {
  if (chunks.some((chunk) => at(chunk, 'event_type') !== undefined)) return assembleInteraction(chunks);
  const parts: JsonObject[] = [];
  let open: JsonObject | null = null;
  let known = false;
  for (const chunk of chunks) {
    const some = partsOf(chunk);
    known ||= some !== null;
    for (const part of some ?? []) {
      const call = part.functionCall ?? part.function_call;
      if (!isObject(call)) {
        parts.push(part);
        continue;
      }
      if (open === null) {
        open = { ...call, args: isObject(call.args) ? { ...call.args } : {} };
        parts.push({ functionCall: open });
      }
      setPartialArgs(open, objects(call.partialArgs ?? call.partial_args));
      const goesOn = (call.willContinue ?? call.will_continue) === true;
      if (!goesOn) open = null;
    }
  }
  return known ? { candidates: [{ content: { role: 'model', parts } }] } : null;
}

import { isObject, type Json, type JsonObject, type ProviderCall } from '@capstan/contracts';
import { readArguments } from './read-arguments.js';
import { at, idOf, textOf } from './shape.js';

/** Gemini's Interactions API returns steps and accepts results as steps. */
export const INTERACTION_CALL = 'interaction_function_call';

export const interactionCalls = (steps: JsonObject[]): ProviderCall[] =>
  steps.flatMap((step) => {
    const type = textOf(step.type);
    if (!type.endsWith('_call')) return [];
    const ours = type === 'function_call';
    return [
      {
        id: idOf(step.id),
        name: textOf(step.name) || type.replace(/_call$/, ''),
        ...readArguments(step.arguments),
        kind: ours ? INTERACTION_CALL : type,
        by_provider: !ours,
      },
    ];
  });

/** Assembles the events of a stream into a body. */
export function assembleInteraction(events: Json[]): Json {
  const steps = new Map<Json, JsonObject>();
  for (const event of events) {
    const index = at(event, 'index') ?? 0;
    const step = at(event, 'step');
    if (isObject(step)) steps.set(index, { ...step });
    const known = steps.get(index);
    const more = at(at(event, 'delta'), 'arguments');
    if (known && typeof more === 'string') known.arguments = textOf(known.arguments) + more;
    else if (known && isObject(more)) known.arguments = more;
  }
  return { steps: [...steps.values()] };
}

import type { Json, JsonObject } from '@capstan/contracts';
import type { Call } from './runner.js';

/**
 * The tool and inputs that a runner receives: its own tool, or the tool that an extension's action is bound to. A caller cannot
 * override inputs that the extension sets. `{{name}}` in them is replaced by an input, whole and with its type.
 */
export function boundInputs({ descriptor: { tool_id, binding }, inputs }: Pick<Call, 'descriptor' | 'inputs'>): {
  action: string;
  inputs: JsonObject;
} {
  if (binding.kind !== 'action') return { action: tool_id, inputs };
  const { action, preset = {} } = binding;
  const used = new Set<string>();
  const filled = fill(preset, inputs, used);
  const given =
    used.size === 0 ? inputs : Object.fromEntries(Object.entries(inputs).filter(([name]) => !used.has(name)));
  return { action, inputs: { ...given, ...filled } };
}

const WHOLE = /^\{\{([A-Za-z_][\w.-]{0,100})\}\}$/;
const nameIn = (value: Json): string | undefined => (typeof value === 'string' ? WHOLE.exec(value)?.[1] : undefined);

/** A placeholder for a missing input is left out of an object; in a list it becomes null, to keep the positions. */
function fill(template: JsonObject, inputs: JsonObject, used: Set<string>): JsonObject {
  const value = (each: Json): Json | undefined => {
    const name = nameIn(each);
    if (name !== undefined) {
      used.add(name);
      return inputs[name];
    }
    if (Array.isArray(each)) return each.map((item) => value(item) ?? null);
    return typeof each === 'object' && each !== null ? fill(each, inputs, used) : each;
  };
  return Object.fromEntries(
    Object.entries(template).flatMap(([name, each]) => {
      const found = value(each);
      return found === undefined ? [] : [[name, found]];
    }),
  );
}

import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { textOf } from './shape.js';

const MAX_INDEX = 10_000;

/** Writes values to their paths (`$.items[0].name`) in the arguments of a call. Text is appended to existing text. */
export function setPartialArgs(call: JsonObject, partial: JsonObject[]): void {
  for (const part of partial) {
    const path = stepsOf(textOf(part.jsonPath ?? part.json_path));
    const value = partialValue(part);
    if (path.length > 0 && value !== undefined) call.args = put(call.args ?? {}, path, value);
  }
}

type Step = string | number;

const STEP = /\.([^.[\]]+)|\[(\d{1,5})\]|\[(?:'([^']*)'|"([^"]*)")\]/y;

function stepsOf(path: string): Step[] {
  const steps: Step[] = [];
  STEP.lastIndex = path.startsWith('$') ? 1 : 0;
  for (let match = STEP.exec(path); match; match = STEP.exec(path)) {
    const [, member, index, quoted, double] = match;
    steps.push(index === undefined ? (member ?? quoted ?? double ?? '') : Math.min(Number(index), MAX_INDEX));
  }
  return steps;
}

const KINDS = ['stringValue', 'numberValue', 'boolValue', 'structValue', 'listValue'];

function partialValue(part: JsonObject): Json | undefined {
  for (const kind of KINDS) if (part[kind] !== undefined) return part[kind];
  return part.nullValue === undefined ? undefined : null;
}

function put(into: Json, [step, ...rest]: Step[], value: Json): Json {
  if (step === undefined) return typeof into === 'string' && typeof value === 'string' ? into + value : value;
  if (typeof step === 'number') {
    const list = Array.isArray(into) ? [...into] : [];
    while (list.length < step) list.push(null);
    list[step] = put(list[step] ?? null, rest, value);
    return list;
  }
  const members = new Map(isObject(into) ? Object.entries(into) : []);
  members.set(step, put(members.get(step) ?? null, rest, value));
  // fromEntries defines own properties, so a property named __proto__ is harmless.
  return Object.fromEntries(members);
}

import type { JsonObject } from '@capstan/contracts';
import { UsageError } from '../usage-error.js';
import { readValue } from './value.js';

/** An object, a file and a text in JSON all start otherwise. */
const PAIR = /^([\w$][^=\s]*)=(.*)$/s;
const EXAMPLE = `Give each input as name=value, or all of them as one JSON object like '{"a": 2}'.`;

export const isPair = (text: string): boolean => PAIR.test(text);

/**
 * Inputs as `a=2 b=three`. An input that the tool's schema says is a text stays as it was typed; any other is read as JSON
 * where it is JSON.
 */
export const readPairs = (pairs: readonly string[], schema: JsonObject): JsonObject => {
  const inputs = new Map<string, JsonObject[string]>();
  for (const pair of pairs) {
    const [, name, text] = PAIR.exec(pair) ?? [];
    if (name === undefined || text === undefined) throw new UsageError(`not name=value: ${pair}`, EXAMPLE);
    if (inputs.has(name)) throw new UsageError(`${name} is given twice`, `A list is JSON: ${name}='["a", "b"]'.`);
    inputs.set(name, isText(schema, name) ? text : readValue(text));
  }
  return Object.fromEntries(inputs);
};

const isText = ({ properties }: JsonObject, name: string): boolean => {
  if (!isObject(properties) || !Object.hasOwn(properties, name)) return false;
  const property = properties[name];
  return isObject(property) && property.type === 'string';
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

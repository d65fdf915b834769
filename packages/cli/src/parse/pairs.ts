import { isObject, type JsonObject } from '@capstan/contracts';
import { UsageError } from '../usage-error.js';
import { readValue } from './value.js';

/** JSON objects, @files and quoted strings all start differently. */
const PAIR = /^([\w$][^=\s]*)=(.*)$/s;
const EXAMPLE = `Pass each input as name=value, or all of them as one JSON object like '{"a": 2}'.`;

export const isPair = (text: string): boolean => PAIR.test(text);

/**
 * Inputs as `a=2 b=three`. A value stays text if the tool's schema says `string`, and is otherwise parsed as JSON if it is
 * valid JSON.
 */
export const readPairs = (pairs: readonly string[], schema: JsonObject): JsonObject => {
  const inputs = new Map<string, JsonObject[string]>();
  for (const pair of pairs) {
    const [, name, text] = PAIR.exec(pair) ?? [];
    if (name === undefined || text === undefined) throw new UsageError(`expected name=value, not ${pair}`, EXAMPLE);
    if (inputs.has(name)) throw new UsageError(`${name} is given twice`, `Write a list as JSON: ${name}='["a", "b"]'.`);
    inputs.set(name, isText(schema, name) ? text : readValue(text));
  }
  return Object.fromEntries(inputs);
};

const isText = ({ properties }: JsonObject, name: string): boolean => {
  if (!isObject(properties) || !Object.hasOwn(properties, name)) return false;
  const property = properties[name];
  return isObject(property) && property.type === 'string';
};

import type { JsonObject } from '@capstan/contracts';
import { UsageError } from '../usage-error.js';

export type InputSources = { readStdin(): Promise<string>; readFile(path: string): Promise<string> };

const EXAMPLE = `Give name=value pairs, a JSON object like '{"a": 2}', @file.json, or - to read it from stdin.`;

/** The inputs of a tool from the command line: JSON itself, a file, stdin, or nothing at all. */
export const readInputs = async (argument: string | undefined, sources: InputSources): Promise<JsonObject> => {
  if (argument === undefined) return {};
  if (argument === '-') return parseInputs(await sources.readStdin(), 'stdin');
  if (!argument.startsWith('@')) return parseInputs(argument, 'the inputs');
  const path = argument.slice(1);
  const text = await sources.readFile(path).catch((error: unknown) => {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : error}`, EXAMPLE);
  });
  return parseInputs(text, path);
};

const parseInputs = (text: string, where: string): JsonObject => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${where}: not JSON: ${error instanceof Error ? error.message : error}`, EXAMPLE);
  }
  if (isObject(value)) return value;
  throw new UsageError(`${where}: a tool takes a JSON object, not ${nameOf(value)}`, EXAMPLE);
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const nameOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;

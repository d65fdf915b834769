import type { JsonObject } from '@capstan/contracts';
import { cannotRead } from '../cannot-read.js';
import { parseJsonObject } from './json-object.js';

export type InputSources = { readStdin(): Promise<string>; readFile(path: string): Promise<string> };

const EXAMPLE = `Pass name=value pairs, a JSON object like '{"a": 2}', @file.json, or - to read stdin.`;

/** The inputs of a tool from the command line: JSON itself, a file, stdin, or nothing at all. */
export const readInputs = async (argument: string | undefined, sources: InputSources): Promise<JsonObject> => {
  if (argument === undefined) return {};
  if (argument === '-') return parseJsonObject(await sources.readStdin(), 'stdin', EXAMPLE);
  if (!argument.startsWith('@')) return parseJsonObject(argument, 'inputs', EXAMPLE);
  const path = argument.slice(1);
  const text = await sources.readFile(path).catch((error: unknown) => {
    throw cannotRead(path, error, EXAMPLE);
  });
  return parseJsonObject(text, path, EXAMPLE);
};

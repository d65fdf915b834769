import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { JsonObject } from '@capstan/contracts';
import { readInputs } from './parse/inputs.js';
import { isPair, readPairs } from './parse/pairs.js';
import { readStdin } from './read-stdin.js';
import type { Session } from './session.js';

/** The inputs of a call as typed: name=value pairs, a JSON object, @file, or - for stdin. */
export const readToolInputs = async (
  session: Session,
  tool_id: string,
  words: readonly string[],
): Promise<JsonObject> => {
  const [first] = words;
  if (first !== undefined && (words.length > 1 || isPair(first)))
    return readPairs(words, await schemaOf(session, tool_id));
  return readJsonInputs(session, first);
};

/** Inputs as a JSON object, @file, or - for stdin. */
export const readJsonInputs = (session: Session, argument: string | undefined): Promise<JsonObject> =>
  readInputs(argument, {
    readStdin: () => readStdin(session),
    readFile: (path) => readFile(resolve(session.cwd, path), 'utf8'),
  });

/** An unknown tool, or one that this key may not look up, has no schema here: the call itself is refused later. */
const schemaOf = async (session: Session, tool_id: string): Promise<JsonObject> => {
  const { CapstanError } = await import('@capstan/client');
  const client = await session.client();
  try {
    return (await client.tools.get(tool_id)).input_schema;
  } catch (error) {
    if (error instanceof CapstanError && (error.status === 404 || error.status === 403)) return {};
    throw error;
  }
};

import type { JsonObject } from '@capstan/contracts';
import { isObject } from '@capstan/contracts/is-object';
import { readTextFile } from './read-text-file.js';
import type { Session } from './session.js';

/** A policy from a file, or `-` for stdin: an object if it is JSON, else the YAML text, which the gateway parses. */
export const readPolicyFile = async (session: Session, file: string): Promise<JsonObject | string> => {
  const text = await readTextFile(session, file);
  return parseJson(text) ?? text;
};

/** Null if it is not a JSON object. It is then sent as YAML, and the gateway reports what is wrong with it. */
const parseJson = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readStdin } from './read-stdin.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

/** A policy document from a file, or - for stdin: an object when it is JSON, else the YAML text, which the gateway reads. */
export const readPolicyFile = async (session: Session, file: string): Promise<{ [key: string]: never } | string> => {
  const text = file === '-' ? await readStdin(session) : await read(session, file);
  return parseJson(text) ?? text;
};

const read = (session: Session, file: string): Promise<string> =>
  readFile(resolve(session.cwd, file), 'utf8').catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  });

/** Null when it is no JSON object; then it is YAML, and the gateway says what is wrong with it. */
const parseJson = (text: string): { [key: string]: never } | null => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

const isObject = (value: unknown): value is { [key: string]: never } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

import type { JsonObject } from '@capstan/contracts';
// Without the index, which would load zod at every start.
import { isObject } from '@capstan/contracts/is-object';
import { UsageError } from '../usage-error.js';

/** Reads a JSON object that a person wrote. `where` names the file, option or stream in the error. */
export const parseJsonObject = (text: string, where: string, suggestion: string | null = null): JsonObject => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${where}: not valid JSON: ${error instanceof Error ? error.message : error}`, suggestion);
  }
  if (isObject(value)) return value;
  throw new UsageError(`${where}: expected a JSON object, not ${nameOf(value)}`, suggestion);
};

const nameOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;

import { parseJson } from '@capstan/contracts';
import { readYaml, type YamlPlace } from '@capstan/expression';
import { type Mistake, type PlanError, PlanFailure } from './plan-error.js';

/** A document and, if it was text, the positions of its parts. */
export type ReadDocument = { value: unknown; toErrors(mistakes: readonly Mistake[]): PlanError[] };

/** Enough for ten thousand steps of a few hundred characters. Parsing that takes seconds, so the gateway does it in a thread. */
const MAX_CHARACTERS = 4 * 1_048_576;

/** Reads YAML or JSON text, or takes a value that is already parsed. */
export function readDocument(source: unknown): ReadDocument {
  if (typeof source !== 'string') return { value: source, toErrors: (mistakes) => mistakes.map((one) => toError(one)) };
  const json = asJson(source);
  if (json !== undefined)
    return {
      value: json,
      toErrors: (mistakes) => {
        const { locate } = readYaml(source, MAX_CHARACTERS);
        return mistakes.map((one) => toError(one, locate(one.path, one.key)));
      },
    };
  const { value, errors, locate } = readYaml(source, MAX_CHARACTERS);
  if (errors.length > 0) throw new PlanFailure(errors.map((error) => ({ field: '', ...error })));
  return { value, toErrors: (mistakes) => mistakes.map((one) => toError(one, locate(one.path, one.key))) };
}

/** Adds positions in the text to errors that were found without it. */
export function placeErrors(text: string, errors: readonly PlanError[]): PlanError[] {
  const { locate } = readYaml(text, MAX_CHARACTERS);
  return errors.map((error) => ({ ...error, ...locate(error.field.split('.')) }));
}

/** A JSON parser is a hundred times faster. JSON is read as YAML only to locate mistakes. */
function asJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const toError = ({ path, key, message, suggestion }: Mistake, place: YamlPlace = {}): PlanError => ({
  field: [...path, ...(key === undefined ? [] : [key])].join('.'),
  message,
  ...place,
  ...(suggestion === undefined ? {} : { suggestion }),
});

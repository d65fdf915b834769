import { parseJson } from '@capstan/contracts';
import { readYaml, type YamlPlace } from '@capstan/expression';
import { type Mistake, type PlanError, PlanFailure } from './plan-error.js';

/** A document as it was sent, and where its parts stand when it was text. */
export type ReadDocument = { value: unknown; toErrors(mistakes: readonly Mistake[]): PlanError[] };

/** Of ten thousand steps with some hundred characters each. It takes seconds, for which the gateway has a thread. */
const MAX_CHARACTERS = 4 * 1_048_576;

/** YAML or JSON as text, or what was parsed already. */
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

/** Errors of a document that was read before, with where they stand in its text. */
export function placeErrors(text: string, errors: readonly PlanError[]): PlanError[] {
  const { locate } = readYaml(text, MAX_CHARACTERS);
  return errors.map((error) => ({ ...error, ...locate(error.field.split('.')) }));
}

/** JSON is read a hundred times as fast by itself; as YAML it is read only to say where a mistake stands. */
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

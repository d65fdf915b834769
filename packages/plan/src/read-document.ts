import { readYaml, type YamlPlace } from '@capstan/expression';
import { type Mistake, type PlanError, planFailure } from './plan-error.js';

/** A document as it was sent, and where its parts stand when it was text. */
export type ReadDocument = { value: unknown; toErrors(mistakes: readonly Mistake[]): PlanError[] };

/** YAML or JSON as text, or what was parsed already. */
export function readDocument(source: unknown): ReadDocument {
  if (typeof source !== 'string') return { value: source, toErrors: (mistakes) => mistakes.map((one) => toError(one)) };
  const json = asJson(source);
  if (json !== undefined)
    return {
      value: json,
      toErrors: (mistakes) => {
        const { locate } = readYaml(source);
        return mistakes.map((one) => toError(one, locate(one.path, one.key)));
      },
    };
  const { value, errors, locate } = readYaml(source);
  if (errors.length > 0) throw planFailure(errors.map((error) => ({ field: '', ...error })));
  return { value, toErrors: (mistakes) => mistakes.map((one) => toError(one, locate(one.path, one.key))) };
}

/** JSON is read a hundred times as fast by itself; as YAML it is read only to say where a mistake stands. */
function asJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text);
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

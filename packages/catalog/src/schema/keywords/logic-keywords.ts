import { isObject, type Json } from '@capstan/contracts';
import type { Evaluation, Keyword } from '../evaluate-schema.js';
import { messageFor } from '../messages.js';
import { isSchema, keyword } from '../subschemas.js';

const schemasIn = (list: Json) => (Array.isArray(list) ? list.filter(isSchema) : []);

/** Parts that the matching branches evaluated count as evaluated. Errors of other branches are dropped. */
const holding = (list: Json, { apply, note }: Evaluation): number => {
  const held = schemasIn(list)
    .map((schema) => apply(schema, undefined, { quiet: true }))
    .filter(({ valid }) => valid);
  for (const seen of held) note(seen);
  return held.length;
};

export const LOGIC_KEYWORDS: Record<string, Keyword> = {
  allOf: (list, evaluation) => {
    for (const schema of schemasIn(list)) {
      const seen = evaluation.apply(schema);
      if (seen.valid) evaluation.note(seen);
      else evaluation.verdict.valid = false;
    }
  },
  anyOf: (list, evaluation) => {
    if (holding(list, evaluation) === 0) evaluation.fail(messageFor('anyOf', list, evaluation.value));
  },
  oneOf: (list, evaluation) => {
    if (holding(list, evaluation) !== 1) evaluation.fail(messageFor('oneOf', list, evaluation.value));
  },
  not: (schema, { value, apply, fail }) => {
    if (isSchema(schema) && apply(schema, undefined, { quiet: true }).valid) fail(messageFor('not', schema, value));
  },
  if: (condition, evaluation) => {
    if (!isSchema(condition)) return;
    const asked = evaluation.apply(condition, undefined, { quiet: true });
    if (asked.valid) evaluation.note(asked);
    const branch = keyword(evaluation.schema, asked.valid ? 'then' : 'else');
    if (!isSchema(branch)) return;
    const seen = evaluation.apply(branch);
    if (seen.valid) evaluation.note(seen);
    else evaluation.verdict.valid = false;
  },
  dependentSchemas: (dependencies, evaluation) => {
    if (!isObject(dependencies) || !isObject(evaluation.value)) return;
    for (const [name, schema] of Object.entries(dependencies)) {
      if (!Object.hasOwn(evaluation.value, name) || !isSchema(schema)) continue;
      const seen = evaluation.apply(schema);
      if (seen.valid) evaluation.note(seen);
      else evaluation.verdict.valid = false;
    }
  },
};

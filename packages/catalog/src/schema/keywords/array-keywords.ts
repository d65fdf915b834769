import type { Json } from '@capstan/contracts';
import type { Evaluation, Keyword } from '../evaluate-schema.js';
import { isSchema, keyword, type Schema } from '../subschemas.js';

const applyToItem = ({ apply, verdict }: Evaluation, schema: Schema, list: Json[], at: number): void => {
  const value = list[at];
  if (value === undefined) return;
  if (!apply(schema, { value, step: String(at) }).valid) verdict.valid = false;
  verdict.items.add(at);
};

const from = (start: number, list: Json[]): number[] => list.map((_, at) => at).slice(start);

const first: Record<string, Keyword> = {
  prefixItems: (schemas, evaluation) => {
    const { value } = evaluation;
    if (!Array.isArray(schemas) || !Array.isArray(value)) return;
    for (const [at, schema] of schemas.entries()) if (isSchema(schema)) applyToItem(evaluation, schema, value, at);
  },
  items: (schema, evaluation) => {
    const { value } = evaluation;
    if (!isSchema(schema) || !Array.isArray(value)) return;
    const prefix = keyword(evaluation.schema, 'prefixItems');
    for (const at of from(Array.isArray(prefix) ? prefix.length : 0, value)) applyToItem(evaluation, schema, value, at);
  },
  contains: (schema, { schema: whole, value, apply, verdict, fail }) => {
    if (!isSchema(schema) || !Array.isArray(value)) return;
    const found = value.flatMap((item, at) =>
      apply(schema, { value: item, step: String(at) }, { quiet: true }).valid ? [at] : [],
    );
    for (const at of found) verdict.items.add(at);
    const min = keyword(whole, 'minContains') ?? 1;
    const max = keyword(whole, 'maxContains') ?? Number.POSITIVE_INFINITY;
    if (typeof min === 'number' && found.length < min) fail(`must contain at least ${min} matching items`);
    if (typeof max === 'number' && found.length > max) fail(`must contain at most ${max} matching items`);
  },
};

const last: Record<string, Keyword> = {
  unevaluatedItems: (schema, evaluation) => {
    const { value, verdict } = evaluation;
    if (!isSchema(schema) || !Array.isArray(value)) return;
    for (const at of from(0, value)) if (!verdict.items.has(at)) applyToItem(evaluation, schema, value, at);
  },
};

export const ARRAY_KEYWORDS = { first, last };

import type { Json, JsonObject } from '@capstan/contracts';
import { narrowed, replaced, type SchemaChange, widened } from './schema-change.js';

const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'];
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'];

/** Compares bounds: of numbers, lengths and counts. */
export const diffBounds = (path: string, before: JsonObject, after: JsonObject): SchemaChange[] => [
  ...LOWER.flatMap((keyword) => diffBound(path, keyword, before[keyword], after[keyword], 1)),
  ...UPPER.flatMap((keyword) => diffBound(path, keyword, before[keyword], after[keyword], -1)),
  ...diffMultiple(path, before.multipleOf, after.multipleOf),
  ...diffUnique(path, before.uniqueItems === true, after.uniqueItems === true),
];

/** `strictness`: 1 if a larger bound accepts less, -1 if a smaller one does. */
const diffBound = (
  path: string,
  keyword: string,
  before: Json | undefined,
  after: Json | undefined,
  strictness: 1 | -1,
): SchemaChange[] => {
  const was = typeof before === 'number' ? before * strictness : Number.NEGATIVE_INFINITY;
  const is = typeof after === 'number' ? after * strictness : Number.NEGATIVE_INFINITY;
  if (was === is) return [];
  const change =
    after === undefined ? `${keyword} removed` : before === undefined ? `${keyword} added` : `${keyword} changed`;
  return is > was
    ? [narrowed(path, change, { before, after }, 'values beyond the new bound are refused now')]
    : [widened(path, change, { before, after }, 'values beyond the old bound may come now')];
};

const diffMultiple = (path: string, before: Json | undefined, after: Json | undefined): SchemaChange[] => {
  const sides = { before, after };
  if (before === after) return [];
  if (before === undefined) return [narrowed(path, 'multipleOf added', sides, 'other numbers are refused now')];
  if (after === undefined) return [widened(path, 'multipleOf removed', sides, 'other numbers may come now')];
  return [replaced(path, 'multipleOf changed', sides, 'some numbers are refused now, and others may come')];
};

const diffUnique = (path: string, before: boolean, after: boolean): SchemaChange[] => {
  if (before === after) return [];
  return after
    ? [narrowed(path, 'uniqueItems added', { before, after }, 'lists with repetitions are refused now')]
    : [widened(path, 'uniqueItems removed', { before, after }, 'lists with repetitions may come now')];
};

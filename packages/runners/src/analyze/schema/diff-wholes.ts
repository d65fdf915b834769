import type { JsonObject } from '@capstan/contracts';
import { areSame, type BothReferences, REFERENCE_KEYWORDS } from './same-schemas.js';
import { replaced, type SchemaChange } from './schema-change.js';

const COMBINATIONS = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'contains',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
];

/** Compares combinations (`anyOf` …) for equality only, because deciding which one accepts more is not possible in general. */
export const diffWholes = (
  path: string,
  before: JsonObject,
  after: JsonObject,
  references: BothReferences,
): SchemaChange[] => {
  const lists = Array.isArray(before.items) || Array.isArray(after.items) ? ['items'] : [];
  const changed = (keyword: string, why: string): SchemaChange[] => {
    if (before[keyword] === undefined && after[keyword] === undefined) return [];
    const [one, other] = [only(keyword, before), only(keyword, after)];
    if (areSame(one, other, references)) return [];
    return [replaced(path, `${keyword} changed`, { before: before[keyword], after: after[keyword] }, why)];
  };
  return [
    ...[...COMBINATIONS, ...lists].flatMap((keyword) =>
      changed(keyword, 'combinations are not looked into, so either side may be broken'),
    ),
    ...REFERENCE_KEYWORDS.flatMap((keyword) =>
      changed(keyword, 'what it refers to is not known here, so either side may be broken'),
    ),
  ];
};

/** Keeps the keyword, because `$ref` has a meaning of its own. */
const only = (keyword: string, schema: JsonObject): JsonObject => {
  const value = schema[keyword];
  return value === undefined ? {} : { [keyword]: value };
};

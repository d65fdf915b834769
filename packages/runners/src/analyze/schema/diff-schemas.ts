import type { Json, JsonObject } from '@capstan/contracts';
import { diffBounds } from './diff-bounds.js';
import { diffMembers } from './diff-members.js';
import { diffValues } from './diff-values.js';
import { asObject, replaced, type SchemaChange } from './schema-change.js';

const MAX_DEPTH = 64;
const COMPARED_AS_A_WHOLE = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
];
const ALSO_AS_A_WHOLE = ['patternProperties', 'propertyNames', 'contains', 'prefixItems', 'unevaluatedProperties'];

export type SchemaDiff = {
  identical: boolean;
  /** Whether nobody of that party is broken. */
  compatible: { writers: boolean; readers: boolean };
  changes: SchemaChange[];
};

/** Two schemas: what changed, and whom each change breaks. */
export const diffSchemas = (before: JsonObject | boolean, after: JsonObject | boolean): SchemaDiff & JsonObject => {
  const roots = { before: asObject(before), after: asObject(after) };
  const changes = diffAt('', roots.before, roots.after, { roots, depth: 0 });
  const isFine = (party: 'writers' | 'readers') => changes.every(({ breaks }) => !breaks.includes(party));
  return {
    identical: changes.length === 0,
    compatible: { writers: isFine('writers'), readers: isFine('readers') },
    changes,
  };
};

type Place = { roots: { before: JsonObject; after: JsonObject }; depth: number };

const diffAt = (path: string, one: JsonObject, other: JsonObject, place: Place): SchemaChange[] => {
  if (place.depth > MAX_DEPTH) return [];
  const before = resolved(one, place.roots.before);
  const after = resolved(other, place.roots.after);
  const deeper = { ...place, depth: place.depth + 1 };
  const items =
    before.items === undefined && after.items === undefined
      ? []
      : diffAt(`${path}/*`, asObject(before.items), asObject(after.items), deeper);
  return [
    ...diffValues(path, before, after),
    ...diffBounds(path, before, after),
    ...diffMembers(path, before, after, (at, was, is) => diffAt(at, was, is, deeper)),
    ...items,
    ...diffWholes(path, before, after),
  ];
};

/** Combinations are compared as they stand: to tell which of two takes more is no question for a rule. */
const diffWholes = (path: string, before: JsonObject, after: JsonObject): SchemaChange[] =>
  [...COMPARED_AS_A_WHOLE, ...ALSO_AS_A_WHOLE].flatMap((keyword) => {
    const sides = { before: before[keyword], after: after[keyword] };
    if (JSON.stringify(sides.before) === JSON.stringify(sides.after)) return [];
    return [
      replaced(path, `${keyword} changed`, sides, 'combinations are not looked into, so either side may be broken'),
    ];
  });

/** A reference into the schema itself. Any other stays as it is. */
const resolved = (schema: JsonObject, root: JsonObject): JsonObject => {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return schema;
  let target: Json | undefined = root;
  for (const step of $ref.slice(1).split('/').slice(1)) {
    const name = decodeStep(step);
    target = typeof target === 'object' && target !== null && !Array.isArray(target) ? target[name] : undefined;
  }
  return { ...asObject(target), ...rest };
};

const decodeStep = (step: string): string => {
  const unescaped = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(unescaped);
  } catch {
    return unescaped;
  }
};

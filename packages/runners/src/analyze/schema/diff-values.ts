import type { Json, JsonObject } from '@capstan/contracts';
import { narrowed, replaced, type SchemaChange, widened } from './schema-change.js';

const ALL_TYPES = ['array', 'boolean', 'null', 'number', 'object', 'string'];

/** Compares the accepted values: by type, enum and format. */
export const diffValues = (path: string, before: JsonObject, after: JsonObject): SchemaChange[] => [
  ...diffTypes(path, before, after),
  ...diffChoices(path, before, after),
  ...['pattern', 'format', 'contentEncoding', 'contentMediaType'].flatMap((keyword) =>
    diffForm(path, keyword, before[keyword], after[keyword]),
  ),
];

const diffTypes = (path: string, before: JsonObject, after: JsonObject): SchemaChange[] => {
  const sides = { before: before.type, after: after.type };
  const was = typesOf(before.type);
  const is = typesOf(after.type);
  const gone = was.filter((type) => !takes(is, type));
  const fresh = is.filter((type) => !takes(was, type));
  return [
    ...(gone.length > 0 ? [narrowed(path, 'type removed', sides, `${gone.join(', ')} is refused now`)] : []),
    ...(fresh.length > 0 ? [widened(path, 'type added', sides, `${fresh.join(', ')} may come now`)] : []),
  ];
};

const typesOf = (type: Json | undefined): string[] => {
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.filter((one) => typeof one === 'string') : ALL_TYPES;
};

const takes = (types: readonly string[], type: string): boolean =>
  types.includes(type) || (type === 'integer' && types.includes('number'));

const diffChoices = (path: string, before: JsonObject, after: JsonObject): SchemaChange[] => {
  const was = choicesOf(before);
  const is = choicesOf(after);
  const sides = { before: was ?? null, after: is ?? null };
  if (!was && !is) return [];
  if (!was) return [narrowed(path, 'enum added', sides, 'only these values are taken now')];
  if (!is) return [widened(path, 'enum removed', sides, 'any value may come now')];
  const gone = without(was, is);
  const fresh = without(is, was);
  return [
    ...(gone.length > 0 ? [narrowed(path, 'enum value removed', sides, `${list(gone)} is refused now`)] : []),
    ...(fresh.length > 0 ? [widened(path, 'enum value added', sides, `${list(fresh)} may come now`)] : []),
  ];
};

const choicesOf = (schema: JsonObject): Json[] | undefined => {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
};

const without = (values: readonly Json[], others: readonly Json[]): Json[] => {
  const known = new Set(others.map((value) => JSON.stringify(value)));
  return values.filter((value) => !known.has(JSON.stringify(value)));
};
const list = (values: readonly Json[]): string => values.map((value) => JSON.stringify(value)).join(', ');

const diffForm = (path: string, keyword: string, before: Json | undefined, after: Json | undefined): SchemaChange[] => {
  const sides = { before, after };
  if (before === after) return [];
  if (before === undefined) return [narrowed(path, `${keyword} added`, sides, 'text of another form is refused now')];
  if (after === undefined) return [widened(path, `${keyword} removed`, sides, 'text of any form may come now')];
  return [
    replaced(path, `${keyword} changed`, sides, 'text of the old form may be refused, and text of a new form come'),
  ];
};

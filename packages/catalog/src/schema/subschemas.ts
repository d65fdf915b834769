import { isObject, type Json, type JsonObject } from '@capstan/contracts';

export type Schema = boolean | JsonObject;

const IN_VALUE = [
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const IN_ARRAY = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const IN_OBJECT = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];

export const isSchema = (value: unknown): value is Schema => typeof value === 'boolean' || isObject(value);

/** An own property of the schema, ignoring its prototype. */
export const keyword = (schema: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(schema, name) ? schema[name] : undefined;

/** The direct subschemas of a schema. Objects elsewhere (in `const`, in `enum`) only look like schemas. */
export function subschemas(schema: JsonObject): JsonObject[] {
  const found: (Json | undefined)[] = IN_VALUE.map((name) => keyword(schema, name));
  for (const name of IN_ARRAY) {
    const list = keyword(schema, name);
    if (Array.isArray(list)) found.push(...list);
  }
  for (const name of IN_OBJECT) {
    const members = keyword(schema, name);
    if (isObject(members)) found.push(...Object.values(members));
  }
  return found.filter(isObject);
}

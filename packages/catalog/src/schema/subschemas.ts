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

/** The schema, with every direct subschema changed. Objects elsewhere (in `const`, in `enum`) stay as they are. */
export function mapSubschemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const changed = (value: Json): Json => (isObject(value) ? change(value) : value);
  const member = (name: string, value: Json): Json => {
    if (IN_VALUE.includes(name)) return changed(value);
    if (IN_ARRAY.includes(name) && Array.isArray(value)) return value.map(changed);
    if (IN_OBJECT.includes(name) && isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each)]));
    return value;
  };
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, member(name, value)]));
}

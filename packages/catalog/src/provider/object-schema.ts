import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { at, objects } from './shape.js';

const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;
/** Keywords that OpenAI and Anthropic refuse at the top level of a schema. */
const REFUSED: ReadonlySet<string> = new Set([
  ...UNIONS,
  'not',
  'enum',
  'const',
  'if',
  'then',
  'else',
  '$schema',
  '$id',
]);

/** The maximum nesting of alternatives, because a recursive schema has no end. */
const MAX_NESTED = 4;

/**
 * Converts a tool's schema to the form that providers accept: an object with its properties at the top level. Alternatives at the top level are
 * merged into one object with the properties of all of them. Calls are checked against the original schema in any case.
 */
export function toObjectSchema(schema: JsonObject, root = schema, depth = 0): JsonObject {
  const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => !REFUSED.has(key)));
  const properties: JsonObject = isObject(schema.properties) ? { ...schema.properties } : {};
  const required = new Set(strings(schema.required));
  for (const union of UNIONS) {
    const nested = depth < MAX_NESTED ? objects(schema[union]) : [];
    const branches = nested.map((branch) => toObjectSchema(resolve(root, branch), root, depth + 1));
    for (const branch of branches) {
      const own = branch.properties;
      if (isObject(own))
        for (const [name, value] of Object.entries(own)) if (!Object.hasOwn(properties, name)) properties[name] = value;
    }
    for (const name of common(branches, union)) required.add(name);
  }
  return {
    ...kept,
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, withItems(value)])),
    ...(required.size > 0 ? { required: [...required] } : {}),
  };
}

/** Properties required by all alternatives, or by any part of `allOf`. */
function common(branches: JsonObject[], union: (typeof UNIONS)[number]): string[] {
  const lists = branches.map((branch) => strings(branch.required));
  const [first = [], ...others] = lists;
  return union === 'allOf' ? lists.flat() : first.filter((name) => others.every((list) => list.includes(name)));
}

/** Resolves `#/$defs/name`, the form of references within one document. */
export function resolve(root: JsonObject, schema: JsonObject): JsonObject {
  const path = /^#\/(.*)$/.exec(typeof schema.$ref === 'string' ? schema.$ref : '')?.[1];
  if (path === undefined) return schema;
  let found: Json | undefined = root;
  for (const step of path.split('/')) found = at(found, step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { $ref: _, ...beside } = schema;
  return isObject(found) ? { ...found, ...beside } : beside;
}

/** Providers require `items` in arrays, and an empty object instead of the schema `true`. */
function withItems(schema: Json, depth = 0): Json {
  if (schema === true) return {};
  if (!isObject(schema) || depth > 32) return schema;
  const out: JsonObject = { ...schema };
  if (out.type === 'array' && out.items === undefined && out.prefixItems === undefined) out.items = {};
  if (isObject(out.items)) out.items = withItems(out.items, depth + 1);
  if (isObject(out.properties))
    out.properties = Object.fromEntries(
      Object.entries(out.properties).map(([name, value]) => [name, withItems(value, depth + 1)]),
    );
  return out;
}

export const strings = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

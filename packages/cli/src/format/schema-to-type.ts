import { isObject, type Json, type JsonObject } from '@capstan/contracts';

const MAX_DEPTH = 12;

/**
 * Converts a JSON Schema to a TypeScript type. Parts that TypeScript cannot express become `unknown`, so that the type never promises more than the
 * schema.
 */
export const schemaToType = (schema: Json, indent = 0): string => typeOf(schema, { root: schema, indent, depth: 0 });

/** `depth` also limits recursive schemas. */
type At = { root: Json; indent: number; depth: number };

function typeOf(schema: Json, at: At): string {
  if (!isObject(schema) || at.depth > MAX_DEPTH) return schema === false ? 'never' : 'unknown';
  const inside = { ...at, depth: at.depth + 1 };
  if (typeof schema.$ref === 'string') return typeOf(referred(at.root, schema.$ref), inside);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map((value) => JSON.stringify(value)));
  const either = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(either)) return union(either.map((one) => typeOf(one, inside)));
  if (Array.isArray(schema.allOf)) return both([{ ...schema, allOf: null }, ...schema.allOf], inside);
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, inside)));
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      return `(${typeOf(schema.items ?? true, inside)})[]`;
    case 'object':
      return objectType(schema, at);
    default:
      return isObject(schema.properties ?? null) ? objectType(schema, at) : 'unknown';
  }
}

function objectType(schema: JsonObject, at: At): string {
  const { indent } = at;
  const inside = { ...at, indent: indent + 1, depth: at.depth + 1 };
  const properties = isObject(schema.properties ?? null) ? Object.entries(schema.properties as JsonObject) : [];
  const rest = schema.additionalProperties;
  if (properties.length === 0)
    return rest === false
      ? 'Record<string, never>'
      : `Record<string, ${isObject(rest ?? null) ? typeOf(rest ?? true, inside) : 'unknown'}>`;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const pad = '  '.repeat(indent + 1);
  const lines = properties.map(([name, one]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${pad}${key}${required.has(name) ? '' : '?'}: ${typeOf(one, inside)};`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(indent)}}`;
}

const union = (types: string[]): string => (types.length === 0 ? 'never' : [...new Set(types)].join(' | '));

/** An intersection type. Parts that are `unknown` add nothing. */
function both(parts: Json[], at: At): string {
  const types = [...new Set(parts.map((one) => typeOf(one, at)))].filter((type) => type !== 'unknown');
  return types.length === 0 ? 'unknown' : types.map((type) => (types.length > 1 ? `(${type})` : type)).join(' & ');
}

/** The target of a reference within the schema; `true`, which accepts anything, for other references. */
function referred(root: Json, ref: string): Json {
  if (!ref.startsWith('#')) return true;
  let found: Json | undefined = root;
  for (const part of ref.slice(1).split('/').filter(Boolean)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found ?? null) ? (found as JsonObject)[name] : undefined;
  }
  return found ?? true;
}

import type { Json, JsonObject } from '@capstan/contracts';

const MAX_DEPTH = 12;

/** A JSON Schema as a TypeScript type. What cannot be said so is \`unknown\`: types promise no more than the check keeps. */
export function schemaToType(schema: Json, indent = 0, depth = 0): string {
  if (!isObject(schema) || depth > MAX_DEPTH) return schema === false ? 'never' : 'unknown';
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map((value) => JSON.stringify(value)));
  const either = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(either)) return union(either.map((one) => schemaToType(one, indent, depth + 1)));
  if (Array.isArray(schema.type))
    return union(schema.type.map((type) => schemaToType({ ...schema, type }, indent, depth + 1)));
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
      return `(${schemaToType(schema.items ?? true, indent, depth + 1)})[]`;
    case 'object':
      return objectType(schema, indent, depth);
    default:
      return isObject(schema.properties ?? null) ? objectType(schema, indent, depth) : 'unknown';
  }
}

function objectType(schema: JsonObject, indent: number, depth: number): string {
  const properties = isObject(schema.properties ?? null) ? Object.entries(schema.properties as JsonObject) : [];
  const rest = schema.additionalProperties;
  if (properties.length === 0)
    return rest === false
      ? 'Record<string, never>'
      : `Record<string, ${isObject(rest ?? null) ? schemaToType(rest ?? true, indent, depth + 1) : 'unknown'}>`;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const pad = '  '.repeat(indent + 1);
  const lines = properties.map(([name, one]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${pad}${key}${required.has(name) ? '' : '?'}: ${schemaToType(one, indent + 1, depth + 1)};`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(indent)}}`;
}

const union = (types: string[]): string => (types.length === 0 ? 'never' : [...new Set(types)].join(' | '));
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

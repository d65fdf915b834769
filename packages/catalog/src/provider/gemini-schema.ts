import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { resolve, strings, toObjectSchema } from './object-schema.js';
import { objects, textOf } from './shape.js';

const MAX_DEPTH = 12;
const MAX_NODES = 2000;

/** The document that references point into, and the remaining size budget. */
type Within = { root: JsonObject; left: number };

/** Keywords that Gemini's Schema has with the same name and meaning. */
const KEPT = [
  'title',
  'description',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
];
const FORMATS: Record<string, ReadonlySet<string>> = {
  string: new Set(['date-time', 'enum']),
  number: new Set(['float', 'double']),
  integer: new Set(['int32', 'int64']),
};

/**
 * Converts to the subset of OpenAPI schemas that Gemini accepts. Undefined for a tool without arguments, because an object without properties is
 * refused.
 */
export function toGeminiSchema(schema: JsonObject): JsonObject | undefined {
  const top = toObjectSchema(schema);
  return isObject(top.properties) && Object.keys(top.properties).length > 0
    ? convert(top, { root: schema, left: MAX_NODES }, 0)
    : undefined;
}

function convert(given: Json | undefined, within: Within, depth: number): JsonObject {
  // A recursive schema has no end, so beyond a depth and a size any value is accepted.
  if (!isObject(given) || depth > MAX_DEPTH || --within.left < 0) return { type: 'object' };
  const schema = resolve(within.root, given);
  const types = typesOf(schema);
  const [type] = types;
  const out: JsonObject = Object.fromEntries(
    KEPT.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]])),
  );
  if (types.length === 1 && type) out.type = type;
  if (isNullable(schema)) out.nullable = true;
  if (type && FORMATS[type]?.has(textOf(schema.format))) out.format = schema.format ?? '';
  addEnum(out, schema);
  addAlternatives(out, schema, types, within, depth);
  if (type === 'array')
    out.items = convert(isObject(schema.items) ? schema.items : { type: 'string' }, within, depth + 1);
  if (type === 'object' && isObject(schema.properties)) addProperties(out, schema, schema.properties, within, depth);
  if (!out.type && !out.anyOf) out.type = 'string';
  return out;
}

function typesOf(schema: JsonObject): string[] {
  const named = (Array.isArray(schema.type) ? strings(schema.type) : [textOf(schema.type)]).filter(
    (type) => type && type !== 'null',
  );
  if (named.length > 0) return named;
  if (isObject(schema.properties)) return ['object'];
  if (schema.items !== undefined) return ['array'];
  const [value] = Array.isArray(schema.enum) ? schema.enum : [schema.const];
  return value === undefined || value === null ? [] : [typeof value];
}

const isNullable = (schema: JsonObject) =>
  (Array.isArray(schema.type) && schema.type.includes('null')) ||
  [...objects(schema.anyOf), ...objects(schema.oneOf)].some((one) => one.type === 'null');

/** Gemini accepts only string enums. Others are described in words. */
function addEnum(out: JsonObject, schema: JsonObject): void {
  const values = Array.isArray(schema.enum) ? schema.enum : schema.const === undefined ? [] : [schema.const];
  const given = values.filter((value) => value !== null);
  if (given.length === 0) return;
  if (given.every((value) => typeof value === 'string' && value !== ''))
    Object.assign(out, { type: 'string', enum: given });
  else out.description = `${textOf(out.description)} One of ${JSON.stringify(given)}.`.trim();
}

function addAlternatives(out: JsonObject, schema: JsonObject, types: string[], within: Within, depth: number): void {
  const union = [...objects(schema.anyOf), ...objects(schema.oneOf)].filter((one) => one.type !== 'null');
  const branches =
    union.length > 0 ? union : types.length > 1 ? types.map((type) => ({ ...schema, type, description: '' })) : [];
  if (branches.length > 0 && !out.enum) {
    delete out.type;
    out.anyOf = branches.map((branch) => withoutEmpty(convert(branch, within, depth + 1)));
  }
  for (const part of objects(schema.allOf)) {
    const merged = convert(part, within, depth + 1);
    for (const [key, value] of Object.entries(merged)) out[key] ??= value;
  }
}

const withoutEmpty = ({ description, ...schema }: JsonObject): JsonObject =>
  description === undefined || description === '' ? schema : { ...schema, description };

function addProperties(
  out: JsonObject,
  schema: JsonObject,
  properties: JsonObject,
  within: Within,
  depth: number,
): void {
  const names = Object.keys(properties);
  if (names.length === 0) return;
  out.properties = Object.fromEntries(names.map((name) => [name, convert(properties[name], within, depth + 1)]));
  const required = strings(schema.required).filter((name) => Object.hasOwn(properties, name));
  if (required.length > 0) out.required = required;
}

import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { mapSubschemas } from '../schema/subschemas.js';
import { follow, resolveReference } from './resolve-reference.js';

/** Keywords that OpenAPI adds to JSON Schema and that models do not need, and those that would change what references mean. */
const DROPPED = new Set([
  ...['xml', 'externalDocs', 'discriminator', 'example', 'readOnly', 'writeOnly', 'nullable'],
  ...['$schema', '$id'],
]);

export type InputSchema = {
  schema: { properties: Record<string, JsonObject>; $defs?: Record<string, JsonObject> };
  /** References that cannot be followed. They accept any value. */
  unresolved: string[];
};

/**
 * Converts schemas of an OpenAPI document to one JSON Schema 2020-12. What they refer to becomes `$defs`, which contain only what is used. So
 * a recursive schema stays finite.
 */
export function toInputSchema(document: JsonObject, properties: Record<string, JsonObject>): InputSchema {
  const defs = new Map<string, string>();
  const names = new Set<string>();
  const unresolved = new Set<string>();
  const read = (schema: JsonObject): JsonObject => {
    const { $ref, nullable, ...members } = withoutReadOnly(document, schema);
    const kept = Object.entries(members).filter(([name]) => !DROPPED.has(name) && !name.startsWith('x-'));
    const own = mapSubschemas(withBounds(Object.fromEntries(kept)), read);
    const whole = typeof $ref === 'string' ? { ...reference($ref), ...own } : own;
    return nullable === true ? orNull(whole) : whole;
  };
  const reference = ($ref: string): JsonObject => {
    if (!isObject(resolveReference(document, $ref))) {
      unresolved.add($ref);
      return {};
    }
    if (!defs.has($ref)) defs.set($ref, takeName(nameOf($ref), names));
    return { $ref: `#/$defs/${defs.get($ref)?.replaceAll('~', '~0').replaceAll('/', '~1')}` };
  };
  const schemas = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, read(each)]));
  const $defs: Record<string, JsonObject> = {};
  // Grows while it is read.
  for (const [$ref, name] of defs) {
    const schema = resolveReference(document, $ref);
    if (isObject(schema)) $defs[name] = read(schema);
  }
  return {
    schema: { properties: schemas, ...(defs.size > 0 && { $defs }) },
    unresolved: [...unresolved],
  };
}

/** The name of a component; for references to other places, the whole path. */
const nameOf = ($ref: string): string =>
  decodeURIComponent(/^#\/components\/schemas\/([^/]+)$/.exec($ref)?.[1] ?? $ref.slice(2).replace(/[^\w.-]+/g, '_'));

/** The name, numbered if it is taken. */
export function takeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
  taken.add(free);
  return free;
}

/** What only responses contain is neither offered nor required. */
function withoutReadOnly(document: JsonObject, schema: JsonObject): JsonObject {
  const { properties, required } = schema;
  if (!isObject(properties)) return schema;
  const isReadOnly = (property: unknown): boolean =>
    [property, follow(document, property)].some((each) => isObject(each) && each.readOnly === true);
  const hidden = new Set(Object.keys(properties).filter((name) => isReadOnly(properties[name])));
  if (hidden.size === 0) return schema;
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.has(name))),
    ...(Array.isArray(required) && {
      required: required.filter((name) => typeof name !== 'string' || !hidden.has(name)),
    }),
  };
}

/** In OpenAPI 3.0, exclusive bounds are a boolean beside the bound. */
function withBounds(schema: JsonObject): JsonObject {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const bounds: JsonObject = {};
  const bound = (open: 'exclusiveMinimum' | 'exclusiveMaximum', closed: 'minimum' | 'maximum') => {
    const [limit, isOpen] = [schema[closed], schema[open]];
    if (typeof isOpen === 'number') bounds[open] = isOpen;
    if (limit !== undefined) bounds[isOpen === true ? open : closed] = limit;
  };
  bound('exclusiveMinimum', 'minimum');
  bound('exclusiveMaximum', 'maximum');
  return { ...rest, ...bounds };
}

const COMPOSED = ['$ref', 'allOf', 'anyOf', 'oneOf'];

/** In OpenAPI 3.0, `nullable` allows null in addition. */
function orNull({ description, ...schema }: JsonObject): JsonObject {
  const about: JsonObject = description === undefined ? {} : { description };
  if (COMPOSED.some((name) => name in schema)) return { ...about, anyOf: [schema, { type: 'null' }] };
  const { type, enum: values } = schema;
  const isListed = (list: readonly Json[]): boolean => list.includes(null);
  return {
    ...about,
    ...schema,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(values) && !isListed(values) && { enum: [...values, null] }),
  };
}

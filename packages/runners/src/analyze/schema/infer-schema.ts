import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { createAjv } from './create-ajv.js';

const MAX_DEPTH = 100;
/** So few different values, seen this often, are an enum rather than free text. */
const MAX_ENUM = 8;
const MIN_SEEN_PER_VALUE = 3;

/** Narrower than the formats themselves: not every text with a colon is a URI. */
const FORMATS: [schema: { format: string }, shape: RegExp][] = [
  [{ format: 'date-time' }, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/],
  [{ format: 'date' }, /^\d{4}-\d{2}-\d{2}$/],
  [{ format: 'uuid' }, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i],
  [{ format: 'email' }, /^[^@\s]{1,64}@[^@\s]{1,255}$/],
  [{ format: 'uri' }, /^https?:\/\/[^\s]{1,2000}$/],
];

const ajv = createAjv();

/** The narrowest usual schema that accepts all samples: types, required members, formats, small enums. */
export const inferSchema = (samples: readonly Json[]): JsonObject => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...schemaOf(samples, 0),
});

const schemaOf = (values: readonly Json[], depth: number): JsonObject => {
  if (values.length === 0 || depth > MAX_DEPTH) return {};
  const objects = values.filter(isObject);
  const arrays = values.filter(Array.isArray);
  const strings = values.filter((value): value is string => typeof value === 'string');
  return {
    ...typeOf(values),
    ...(objects.length > 0 ? membersOf(objects, depth) : {}),
    ...(arrays.length > 0 ? { items: schemaOf(arrays.flat(), depth + 1) } : {}),
    ...(strings.length > 0 ? textOf(strings) : {}),
  };
};

const typeOf = (values: readonly Json[]): JsonObject => {
  const types = new Set(values.map(typeName));
  // Every integer is a number as well.
  if (types.has('number')) types.delete('integer');
  const sorted = [...types].sort();
  return { type: sorted.length === 1 ? (sorted[0] ?? 'null') : sorted };
};

const typeName = (value: Json): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
};

const membersOf = (objects: readonly JsonObject[], depth: number): JsonObject => {
  const values = new Map<string, Json[]>();
  for (const object of objects)
    for (const [key, value] of Object.entries(object)) {
      const known = values.get(key);
      if (known) known.push(value);
      else values.set(key, [value]);
    }
  const names = [...values.keys()].sort();
  const required = names.filter((name) => values.get(name)?.length === objects.length);
  return {
    // Object.fromEntries defines properties, so a key named __proto__ stays data.
    properties: Object.fromEntries(names.map((name) => [name, schemaOf(values.get(name) ?? [], depth + 1)])),
    ...(required.length > 0 ? { required } : {}),
  };
};

const textOf = (strings: readonly string[]): JsonObject => {
  // The schema has to accept every sample.
  const format = FORMATS.find(([schema, shape]) =>
    strings.every((text) => shape.test(text) && ajv.validate(schema, text)),
  );
  if (format) return format[0];
  const distinct = new Set(strings);
  return distinct.size <= MAX_ENUM && strings.length >= distinct.size * MIN_SEEN_PER_VALUE && distinct.size > 1
    ? { examples: [...distinct].sort() }
    : {};
};

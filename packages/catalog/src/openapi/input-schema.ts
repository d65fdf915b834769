import { isObject, type Json, type JsonObject } from '@capstan/contracts';

const COMPONENT = '#/components/schemas/';

/** Keywords that OpenAPI adds to JSON Schema and that models do not need. */
const DROPPED = new Set(['xml', 'externalDocs', 'discriminator', 'example', 'readOnly', 'writeOnly', 'nullable']);

/**
 * Converts a schema of an OpenAPI document to JSON Schema 2020-12. References to components become references to `$defs`, which contain only the
 * components that are used. So a recursive schema stays finite.
 */
export const toJsonSchema = (properties: Record<string, JsonObject>, components: Record<string, unknown>) => {
  const reached = new Set<string>();
  const read = (value: unknown): Json => {
    if (Array.isArray(value)) return value.map(read);
    if (!isObject(value)) return value as Json;
    if (typeof value.$ref === 'string') return reference(value.$ref);
    const schema: JsonObject = {};
    for (const [name, member] of Object.entries(value))
      if (!DROPPED.has(name) && !name.startsWith('x-')) schema[name] = read(member);
    return upToDate(schema, value);
  };
  const reference = ($ref: string): Json => {
    const name = $ref.startsWith(COMPONENT) ? decodeURIComponent($ref.slice(COMPONENT.length)) : undefined;
    // External references are not fetched, so they accept any value.
    if (name === undefined || !Object.hasOwn(components, name)) return {};
    reached.add(name);
    return { $ref: `#/$defs/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` };
  };
  const read_properties = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, read(each)]));
  const $defs: JsonObject = {};
  for (const name of reached) $defs[name] = read(components[name]);
  return { properties: read_properties, ...(reached.size > 0 ? { $defs } : {}) };
};

/** OpenAPI 3.0 has keywords of its own for null and for exclusive bounds. */
const upToDate = (schema: JsonObject, { nullable }: Record<string, unknown>): JsonObject => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const bounds: JsonObject = {};
  const bound = (open: 'exclusiveMinimum' | 'exclusiveMaximum', closed: 'minimum' | 'maximum') => {
    const [limit, isOpen] = [schema[closed], schema[open]];
    if (typeof isOpen === 'number') bounds[open] = isOpen;
    if (limit !== undefined) bounds[isOpen === true ? open : closed] = limit;
  };
  bound('exclusiveMinimum', 'minimum');
  bound('exclusiveMaximum', 'maximum');
  const closed = { ...rest, ...bounds };
  if (nullable !== true) return closed;
  if (typeof closed.type !== 'string') return closed;
  const named = Array.isArray(closed.enum) ? { enum: [...closed.enum, null] } : {};
  return { ...closed, type: [closed.type, 'null'], ...named };
};

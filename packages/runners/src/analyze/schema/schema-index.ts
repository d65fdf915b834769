import type { Json, JsonObject } from '@capstan/contracts';

/** The base URI of a schema without `$id`. */
export const NOWHERE = 'schema://here/';
/** Keywords that contain data instead of schemas. */
const DATA = new Set(['const', 'default', 'enum', 'examples']);

export type SchemaIndex = {
  /** Schemas with a URI of their own. */
  resources: Map<string, JsonObject>;
  /** Keyed by URI and name, as in `schema://here/#name`. */
  anchors: Map<string, JsonObject>;
  /** The base URI for references in a schema. */
  bases: Map<JsonObject, string>;
};

/** Indexes everything that references in a schema can point to. */
export const indexSchema = (root: JsonObject): SchemaIndex => {
  const index: SchemaIndex = { resources: new Map([[NOWHERE, root]]), anchors: new Map(), bases: new Map() };
  const left: [value: Json, base: string][] = [[root, NOWHERE]];
  for (let next = left.pop(); next; next = left.pop()) {
    const [value, outer] = next;
    if (typeof value !== 'object' || value === null) continue;
    const base = Array.isArray(value) ? outer : enter(index, value, outer);
    for (const [key, inner] of Object.entries(value))
      if (Array.isArray(value) || !DATA.has(key)) left.push([inner, base]);
  }
  return index;
};

const enter = ({ resources, anchors, bases }: SchemaIndex, schema: JsonObject, outer: string): string => {
  const [address = '', name = ''] = typeof schema.$id === 'string' ? schema.$id.split('#') : [];
  const base = toAddress(address, outer) ?? outer;
  bases.set(schema, base);
  if (address !== '') resources.set(base, schema);
  // Drafts before 2019 declared a name as `$id: "#name"`.
  for (const anchor of [schema.$anchor, schema.$dynamicAnchor, name])
    if (typeof anchor === 'string' && anchor !== '') anchors.set(`${base}#${anchor}`, schema);
  return base;
};

/** Undefined if the reference is not a valid URI. */
export const toAddress = (reference: string, base: string): string | undefined => {
  if (reference === '') return base;
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
};

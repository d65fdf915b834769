import type { Json, JsonObject } from '@capstan/contracts';

/** Where a schema is that does not say it. */
export const NOWHERE = 'schema://here/';
/** They hold data, in which nothing is a schema. */
const DATA = new Set(['const', 'default', 'enum', 'examples']);

export type SchemaIndex = {
  /** Schemas with an address of their own. */
  resources: Map<string, JsonObject>;
  /** By address and name, as in `schema://here/#name`. */
  anchors: Map<string, JsonObject>;
  /** What the references in a schema are relative to. */
  bases: Map<JsonObject, string>;
};

/** What the references of a schema may lead to. */
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
  // The drafts before 2019 gave a name as `$id: "#name"`.
  for (const anchor of [schema.$anchor, schema.$dynamicAnchor, name])
    if (typeof anchor === 'string' && anchor !== '') anchors.set(`${base}#${anchor}`, schema);
  return base;
};

/** Undefined when it makes no address. */
export const toAddress = (reference: string, base: string): string | undefined => {
  if (reference === '') return base;
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
};

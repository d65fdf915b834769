import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { asObject } from './schema-change.js';
import { indexSchema, NOWHERE, type SchemaIndex, toAddress } from './schema-index.js';

/** Keywords that describe a schema or contain others, and do not constrain documents. */
const SILENT = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
]);

/** Resolves references within one document. */
export type References = {
  /** The target of a reference in `within`. Undefined if it is not in the document. */
  find(reference: string, within: JsonObject): JsonObject | undefined;
  /** The schema with its chain of references resolved; unresolvable ones stay. Equal schemas return the same object. */
  resolved(schema: JsonObject): JsonObject;
};

export const createReferences = (root: JsonObject): References => {
  const index = indexSchema(root);
  const known = new Map<JsonObject, JsonObject>();
  const find = (reference: string, within: JsonObject) => findIn(index, reference, within);
  return {
    find,
    resolved: (schema) => {
      const resolved = known.get(schema) ?? follow(schema, find);
      known.set(schema, resolved);
      return resolved;
    },
  };
};

const follow = (schema: JsonObject, find: References['find']): JsonObject => {
  const passed = new Set<JsonObject>();
  let at = schema;
  while (typeof at.$ref === 'string') {
    const target = find(at.$ref, at);
    if (!target) break;
    passed.add(at);
    // A circular reference adds nothing to the schemas along the circle.
    at = passed.has(target) ? {} : target;
  }
  return [...passed].reduceRight((inner, outer) => joined(outer, inner), at);
};

/** A schema applies together with the one that it refers to. Where both constrain the same thing, both are kept. */
const joined = ({ $ref: _, ...outer }: JsonObject, inner: JsonObject): JsonObject => {
  const said = Object.keys(outer).filter((keyword) => !SILENT.has(keyword));
  if (said.length === 0) return inner;
  if (!said.some((keyword) => Object.hasOwn(inner, keyword))) return { ...inner, ...outer };
  return { ...outer, allOf: [...(Array.isArray(outer.allOf) ? outer.allOf : []), inner] };
};

const findIn = (
  { resources, anchors, bases }: SchemaIndex,
  reference: string,
  within: JsonObject,
): JsonObject | undefined => {
  const [address = '', fragment = ''] = reference.split('#');
  const base = toAddress(address, bases.get(within) ?? NOWHERE);
  if (base === undefined) return undefined;
  const name = decoded(fragment);
  if (name !== '' && !name.startsWith('/')) return anchors.get(`${base}#${name}`);
  return asSchema(pointedAt(resources.get(base), name));
};

const pointedAt = (from: Json | undefined, pointer: string): Json | undefined => {
  let target = from;
  for (const step of pointer.split('/').slice(1)) {
    if (typeof target !== 'object' || target === null) return undefined;
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    target = Object.getOwnPropertyDescriptor(target, name)?.value;
  }
  return target;
};

const asSchema = (target: Json | undefined): JsonObject | undefined =>
  typeof target === 'boolean' || isObject(target) ? asObject(target) : undefined;

const decoded = (fragment: string): string => {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
};

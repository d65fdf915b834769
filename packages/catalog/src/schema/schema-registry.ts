import { isObject, type JsonObject } from '@capstan/contracts';
import { isSchema, keyword, type Schema, subschemas } from './subschemas.js';

/** A schema with an identity of its own: the document, or a part with `$id`. */
export type Resource = {
  uri: string;
  root: Schema;
  anchors: Map<string, JsonObject>;
  dynamic_anchors: Map<string, JsonObject>;
};

export type Located = { schema: Schema; resource: Resource };

/** The schemas that references may point to. */
export type SchemaRegistry = {
  add(document: Schema, uri: string): Resource;
  /** Throws if the reference cannot be resolved. */
  resolve(reference: string, from: Resource): Located;
  resourceOf(schema: JsonObject, current: Resource): Resource;
  dynamicAnchor(name: string, scope: readonly Resource[]): Located | undefined;
  document(uri: string): Schema | undefined;
};

class UnresolvedReference extends Error {
  override readonly name = 'UnresolvedReference';
}

export function createSchemaRegistry(): SchemaRegistry {
  const resources = new Map<string, Resource>();
  const owners = new WeakMap<JsonObject, Resource>();

  const open = (root: Schema, uri: string): Resource => {
    const resource = { uri, root, anchors: new Map(), dynamic_anchors: new Map() };
    resources.set(uri, resource);
    return resource;
  };
  const index = (schema: JsonObject, outer: Resource): void => {
    const id = keyword(schema, '$id');
    const resource = typeof id === 'string' && schema !== outer.root ? open(schema, withBase(id, outer.uri)) : outer;
    owners.set(schema, resource);
    const anchor = keyword(schema, '$anchor');
    if (typeof anchor === 'string') resource.anchors.set(anchor, schema);
    const dynamic = keyword(schema, '$dynamicAnchor');
    if (typeof dynamic === 'string') resource.dynamic_anchors.set(dynamic, schema);
    for (const inner of subschemas(schema)) index(inner, resource);
  };
  const find = (reference: string, from: Resource): Located => {
    const [uri = '', fragment = ''] = splitFragment(withBase(reference, from.uri));
    const resource = resources.get(uri);
    if (!resource) throw new UnresolvedReference(`there is no schema ${JSON.stringify(uri || reference)}`);
    const name = decodeURIComponent(fragment);
    if (name === '') return { schema: resource.root, resource };
    if (name.startsWith('/')) return byPointer(name, resource);
    const schema = resource.anchors.get(name) ?? resource.dynamic_anchors.get(name);
    if (!schema) throw new UnresolvedReference(`there is no anchor ${name} in ${uri || 'the schema'}`);
    return { schema, resource };
  };
  const byPointer = (pointer: string, from: Resource): Located => {
    let value: unknown = from.root;
    let resource = from;
    for (const part of pointer.slice(1).split('/')) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      value = isObject(value) ? keyword(value, name) : Array.isArray(value) ? value[Number(name)] : undefined;
      if (isObject(value)) resource = owners.get(value) ?? resource;
    }
    if (!isSchema(value)) throw new UnresolvedReference(`there is nothing at #${pointer}`);
    return { schema: value, resource };
  };

  return {
    add: (document, uri) => {
      const id = isObject(document) ? keyword(document, '$id') : undefined;
      const own = typeof id === 'string' ? (splitFragment(withBase(id, uri))[0] ?? uri) : uri;
      const resource = open(document, own);
      // Also registered under the URI that it was loaded by, whatever its `$id` is.
      if (own !== uri) resources.set(uri, resource);
      if (isObject(document)) index(document, resource);
      return resource;
    },
    resolve: find,
    resourceOf: (schema, current) => owners.get(schema) ?? current,
    dynamicAnchor: (name, scope) => {
      for (const resource of scope) {
        const schema = resource.dynamic_anchors.get(name);
        if (schema) return { schema, resource };
      }
      return undefined;
    },
    document: (uri) => resources.get(splitFragment(uri)[0] ?? uri)?.root,
  };
}

const splitFragment = (uri: string): string[] => uri.split('#', 2);

/** `base` may be a URN, against which only a fragment can be resolved. */
function withBase(reference: string, base: string): string {
  if (reference === '' || reference.startsWith('#')) return (splitFragment(base)[0] ?? '') + reference;
  if (URL.canParse(reference, base)) return withoutEmptyFragment(new URL(reference, base).href);
  return withoutEmptyFragment(reference);
}

const withoutEmptyFragment = (uri: string): string => (uri.endsWith('#') ? uri.slice(0, -1) : uri);

import { type Binding, isObject, type Json, type JsonObject, type RequestStyle } from '@capstan/contracts';
import { takeName, toInputSchema } from './input-schema.js';
import type { Parameter, PlacedOperation, RequestBody } from './openapi-document.js';
import { type AuthContext, authHeaders } from './operation-auth.js';
import { follow } from './resolve-reference.js';

export type BindContext = AuthContext & { api: string; sent: JsonObject };

/** The request that an operation is, and the schema of the inputs that fill it in. */
export function bindOperation(placed: PlacedOperation, context: BindContext, warnings: string[]) {
  const { method, path, base_url, operation, parameters, body } = placed;
  const auth = authHeaders(operation, context, warnings);
  const properties: Record<string, JsonObject> = {};
  const required: string[] = [];
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  const styles: Record<string, RequestStyle> = {};
  const taken = new Set(body ? ['body'] : []);
  const inPath = new Map<string, string>();
  const take = (parameter: Parameter): string => {
    const wanted = inputName(parameter.name);
    const input = takeName(taken.has(wanted) ? `${wanted}_${parameter.in}` : wanted, taken);
    const { schema, is_json } = schemaOf(parameter);
    const { description } = parameter;
    properties[input] = { ...schema, ...(description !== undefined && { description }) };
    if (parameter.required || parameter.in === 'path') required.push(input);
    const style = is_json ? 'json' : styleOf(parameter, shapesOf(context.sent, schema));
    if (style !== null) styles[input] = style;
    return input;
  };
  for (const parameter of parameters) {
    const { name } = parameter;
    if (parameter.in === 'path') inPath.set(name, take(parameter));
    if (parameter.in === 'query') query[name] = `{{${take(parameter)}}}`;
    if (parameter.in === 'header' && !isOurs(name, auth)) headers[name] = `{{${take(parameter)}}}`;
  }
  const url = path.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const input = inPath.get(name) ?? take({ name, in: 'path', required: true, schema: { type: 'string' } });
    inPath.set(name, input);
    return `{{${input}}}`;
  });
  const media = body && mediaOf(body);
  if (body && media) {
    const description = body.description ?? 'The body of the request';
    properties.body = { description, ...((body.content[media]?.schema ?? {}) as JsonObject) };
    if (body.required) required.push('body');
    headers['Content-Type'] = media;
  }
  Object.assign(headers, auth);
  const { schema, unresolved } = toInputSchema(context.sent, properties);
  for (const $ref of unresolved) warnings.push(`${$ref} cannot be followed: any value is accepted there`);
  const binding: Binding = {
    kind: 'request',
    extension_id: `openapi.${context.api}`,
    method,
    url: `${base_url.replace(/\/+$/, '')}${url}`,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(query).length > 0 && { query }),
    ...(Object.keys(styles).length > 0 && { styles }),
    ...(media && { body: '{{body}}' }),
  };
  const input_schema: JsonObject = {
    type: 'object',
    ...schema,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
  return { input_schema, binding };
}

/** Inputs are referred to as `{{name}}`, where a name consists of letters, digits, dots, dashes and underscores. */
const inputName = (name: string): string => {
  const clean = name.replace(/[^\w.-]+/g, '_').replace(/_+$/, '');
  return /^[A-Za-z_]/.test(clean) ? clean : `_${clean}`;
};

const NOT_PARAMETERS = new Set(['accept', 'authorization', 'content-type']);

/** Headers that OpenAPI does not allow as parameters, and those that carry a secret. */
const isOurs = (name: string, auth: Record<string, string>): boolean =>
  NOT_PARAMETERS.has(name.toLowerCase()) || Object.keys(auth).some((each) => each.toLowerCase() === name.toLowerCase());

/** A parameter with `content` is sent as JSON. */
function schemaOf({ schema, content }: Parameter): { schema: JsonObject; is_json: boolean } {
  const [media] = Object.values(content ?? {});
  return {
    schema: (schema ?? media?.schema ?? {}) as JsonObject,
    is_json: schema === undefined && media !== undefined,
  };
}

type Shapes = { array: boolean; object: boolean };

/** Whether values of a schema may be lists or objects. */
function shapesOf(document: JsonObject, schema: Json, depth = 0): Shapes {
  const found = follow(document, schema);
  if (!isObject(found) || depth > 10) return { array: false, object: false };
  const types = [found.type].flat();
  const members = [found.allOf, found.anyOf, found.oneOf]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((member) => shapesOf(document, member, depth + 1));
  return {
    array: types.includes('array') || 'items' in found || members.some(({ array }) => array),
    object: types.includes('object') || 'properties' in found || members.some(({ object }) => object),
  };
}

/** How lists and objects are written; null if they cannot occur, or for a list that repeats its name. */
function styleOf(parameter: Parameter, { array, object }: Shapes): RequestStyle | null {
  const { in: place, style = place === 'query' ? 'form' : 'simple', explode = style === 'form' } = parameter;
  if (!array && !object) return null;
  if (place !== 'query') return 'comma';
  if (style === 'deepObject') return 'deep';
  if (explode) return object ? 'fields' : null;
  if (style === 'spaceDelimited') return 'space';
  return style === 'pipeDelimited' ? 'pipe' : 'comma';
}

/** The media type of the request body; JSON if the operation accepts it. */
export const mediaOf = ({ content }: RequestBody): string | null => {
  const types = Object.keys(content);
  return (
    types.find((type) => /^application\/([\w.-]+\+)?json\b/i.test(type)) ??
    types.find((type) => type.startsWith('application/x-www-form-urlencoded')) ??
    types.find((type) => type.startsWith('text/')) ??
    null
  );
};

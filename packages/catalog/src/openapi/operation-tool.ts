import { type Binding, type Descriptor, type JsonObject, NO_EFFECTS, type OpenApiOptions } from '@capstan/contracts';
import type { DeclaredEffects } from '../effects/merge-effects.js';
import { mergeEffects } from '../effects/merge-effects.js';
import { inferDanger } from '../infer/infer-danger.js';
import { type Clue, cluesInWords } from '../infer/words.js';
import { toJsonSchema } from './input-schema.js';
import type { OpenApiDocument, Operation, Parameter, RequestBody, SecurityScheme } from './openapi-document.js';

/** An operation, including what its path and the document define for it. */
export type PlacedOperation = {
  name: string;
  method: string;
  path: string;
  operation: Operation;
  parameters: Parameter[];
  body: RequestBody | null;
};

export type OpenApiContext = {
  api: string;
  base_url: string;
  document: OpenApiDocument;
  schemes: Record<string, SecurityScheme>;
  auth: NonNullable<OpenApiOptions['auth']>;
};

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
const REPEATABLE = new Set([...READS, 'PUT', 'DELETE']);

export function operationTool(placed: PlacedOperation, context: OpenApiContext) {
  const { name, method, path, operation } = placed;
  const warnings: string[] = [];
  const { input_schema, binding } = bind(placed, context, warnings);
  const description = (operation.description ?? operation.summary ?? `${method} ${path}`).slice(0, 4000);
  const words = READS.has(method)
    ? []
    : cluesInWords({ name, description: operation.summary ?? description, input_schema });
  const danger = inferDanger({}, [...clues(method), ...words]);
  const effects: DeclaredEffects = {
    ...{ network: true, subprocess: false, interactive: false, filesystem: NO_EFFECTS.filesystem },
    ...{ idempotent: REPEATABLE.has(method), reversible: READS.has(method) },
    ...{ destructive: method === 'DELETE' || method === 'PUT', billable: danger.side_effects.includes('payments') },
  };
  const descriptor: Descriptor = {
    tool_id: `openapi:${context.api}:${name}`,
    name,
    description,
    source: 'openapi',
    origin: context.api,
    runner: 'api',
    binding,
    input_schema,
    risk: danger.risk,
    side_effects: danger.side_effects,
    effects: mergeEffects(effects),
    trust: 'org',
    inferred: [
      ...danger.inferred,
      { field: 'effects', why: `the method ${method}` },
      { field: 'trust', why: 'org: a document that an admin added' },
    ],
  };
  return { descriptor, warnings };
}

const clues = (method: string): Clue[] => [
  {
    risk: READS.has(method) ? 'MED' : method === 'DELETE' ? 'HIGH' : 'MED',
    side_effect: 'network.http',
    why: `it sends a request with ${method}`,
  },
  ...(READS.has(method)
    ? []
    : [{ risk: 'HIGH', side_effect: null, why: `${method} changes something` } satisfies Clue]),
];

function bind(placed: PlacedOperation, context: OpenApiContext, warnings: string[]) {
  const { method, path, operation, parameters, body } = placed;
  const properties: Record<string, JsonObject> = {};
  const required: string[] = [];
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  let url = `${context.base_url.replace(/\/+$/, '')}${path}`;
  for (const parameter of parameters) {
    const input = inputName(parameter.name);
    const schema = parameter.schema ?? {};
    properties[input] = {
      ...(schema as JsonObject),
      ...(parameter.description !== undefined && { description: parameter.description }),
    };
    if (parameter.required || parameter.in === 'path') required.push(input);
    if (parameter.in === 'path') url = url.replaceAll(`{${parameter.name}}`, `{{${input}}}`);
    if (parameter.in === 'query') query[parameter.name] = `{{${input}}}`;
    if (parameter.in === 'header') headers[parameter.name] = `{{${input}}}`;
  }
  const media = body && mediaOf(body);
  if (body && media) {
    const description = body.description ?? 'The body of the request';
    properties.body = { description, ...((body.content[media]?.schema ?? {}) as JsonObject) };
    if (body.required) required.push('body');
    headers['Content-Type'] = media;
  }
  Object.assign(headers, authHeaders(operation, context, warnings));
  const binding: Binding = {
    kind: 'request',
    extension_id: `openapi.${context.api}`,
    method,
    url,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(query).length > 0 && { query }),
    ...(media && { body: '{{body}}' }),
  };
  const input_schema: JsonObject = {
    type: 'object',
    ...toJsonSchema(properties, context.document.components.schemas),
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

/** The media type of the request body; JSON if the operation accepts it. */
export const mediaOf = ({ content }: RequestBody): string | null => {
  const types = Object.keys(content);
  return (
    types.find((type) => /^application\/([\w.-]+\+)?json\b/.test(type)) ??
    types.find((type) => type.startsWith('application/x-www-form-urlencoded')) ??
    types.find((type) => type.startsWith('text/')) ??
    null
  );
};

/** The first alternative for which every scheme has a secret. Without one, the call is sent unauthenticated. */
function authHeaders(
  { security }: Operation,
  { document, schemes, auth }: OpenApiContext,
  warnings: string[],
): Record<string, string> {
  const alternatives = security ?? document.security;
  if (alternatives.length === 0 || alternatives.some((each) => Object.keys(each).length === 0 && !hasAuth(auth)))
    return {};
  const problems: string[] = [];
  for (const alternative of alternatives) {
    const headers: Record<string, string> = {};
    const missing = Object.keys(alternative).filter((name) => {
      const header = headerOf(schemes[name], auth[name] ?? auth['*']);
      if (header) headers[header[0]] = header[1];
      return header === null;
    });
    if (missing.length === 0) return headers;
    problems.push(...missing);
  }
  warnings.push(`it needs ${[...new Set(problems)].join(', ')}: name a secret for it with auth`);
  return {};
}

const hasAuth = (auth: object): boolean => Object.keys(auth).length > 0;

const headerOf = (scheme: SecurityScheme | undefined, secret: string | undefined): [string, string] | null => {
  if (scheme === undefined || secret === undefined) return null;
  if (scheme.type === 'apiKey') return scheme.in === 'header' && scheme.name ? [scheme.name, secret] : null;
  if (scheme.type === 'http' && scheme.scheme?.toLowerCase() === 'basic') return ['Authorization', `Basic ${secret}`];
  return ['Authorization', `Bearer ${secret}`];
};

import { z } from 'zod';
import { type Route, type RouteAnswer, route } from './route.js';

/** Each kind of problem has members of its own beside these, which clients have to expect. */
const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.int(),
  suggestion: z.string(),
  request_id: z.string().optional().describe('Names it in the log of the gateway'),
  errors: z
    .array(z.looseObject({ field: z.string(), message: z.string() }))
    .optional()
    .describe('Each mistake, and the field it is in'),
});

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same as idempotency_key in the body. If both are sent, they have to be equal.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Answers the description of all routes, itself among them. It is made when it is first asked for: that takes a while. */
export function openapiRoute(routes: Route[]): Route {
  let document: object | undefined;
  const self = route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1', schema: z.object({ openapi: z.literal('3.1.0') }) } },
    handle: () => {
      document ??= openapi([...routes, self]);
      return document;
    },
  });
  return self;
}

/** OpenAPI 3.1 from the same schemas that requests are checked with. */
function openapi(routes: Route[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/\*$/, '{path}');
    const operations = paths[path] ?? {};
    operations[route.method.toLowerCase()] = toOperation({ ...route, path });
    paths[path] = operations;
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Capstan', version: '0.1.0', description: 'A distributed job queue for tool invocations.' },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: toSchema(Problem, 'output') },
    },
    paths,
  };
}

function toOperation(route: Route) {
  return {
    summary: route.summary,
    operationId: `${route.method.toLowerCase()}${route.path.replace(/[^a-z]+(\w?)/gi, (_, letter: string) => letter.toUpperCase())}`,
    ...(route.roles ? { security: [{ key: [] }], 'x-roles': route.roles } : {}),
    parameters: [
      ...pathParameters(route.path),
      ...(route.query ? queryParameters(route.query) : []),
      ...(route.idempotency_header ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(route.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: toSchema(route.body, 'input') } } } }
      : {}),
    responses: {
      ...Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, toResponse(answer)])),
      default: {
        description: 'What went wrong, and what to do',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

function toResponse({ description, schema, media_type }: RouteAnswer) {
  if (!schema && !media_type) return { description };
  const content = schema ? toSchema(schema, 'output') : { type: 'string' };
  return { description, content: { [media_type ?? 'application/json']: { schema: content } } };
}

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

function queryParameters(query: z.ZodType) {
  const { properties = {}, required = [] } = toSchema(query, 'input');
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

/** A body that is parsed further in carries its schema as metadata. */
function toSchema(schema: z.ZodType, io: 'input' | 'output') {
  const real = schema.meta()?.override;
  return z.toJSONSchema(real instanceof z.ZodType ? real : schema, { io, unrepresentable: 'any' });
}

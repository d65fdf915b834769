import { z } from 'zod';
import type { Route } from './route.js';

const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.int(),
  suggestion: z.string(),
});

/** OpenAPI 3.1 from the same schemas that requests are checked with. */
export function openapi(routes: Route[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = toOperation(route);
    paths[route.path] = operations;
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
    parameters: [...pathParameters(route.path), ...(route.query ? queryParameters(route.query) : [])],
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

const toResponse = ({ description, schema }: { description: string; schema?: z.ZodType }) => ({
  description,
  ...(schema ? { content: { 'application/json': { schema: toSchema(schema, 'output') } } } : {}),
});

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

import { z } from 'zod';
import { type Route, type RouteAnswer, route } from '../http/route.js';
import { componentSchemas } from './component-schemas.js';
import { EXAMPLES } from './examples.js';
import { operationName, TAGS, tagOf } from './operation-name.js';
import { renderReference } from './render-reference.js';

/** Every kind of problem may have further members, so clients have to accept unknown ones. */
const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.int(),
  suggestion: z.string(),
  request_id: z.string().optional().describe('The id of the request in the log of the gateway'),
  errors: z
    .array(z.looseObject({ field: z.string(), message: z.string() }))
    .optional()
    .describe('Every error, with its field'),
});

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same as idempotency_key in the body. If both are sent, they must be equal.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the version to replace. If another version is in force by now, the answer is 412.',
  schema: { type: 'string' },
};

const PROBLEM = {
  description: 'The problem, and how to fix it',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

type Content = Record<string, { schema: unknown; examples?: { typical: { value: unknown } } }>;
export type Response = { description: string; content?: Content };
export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  'x-roles'?: string[];
  security?: [];
  parameters: { name: string; in: string; required: boolean; description?: string; schema: unknown }[];
  requestBody?: { required: true; content: Content };
  responses: Record<string, Response>;
};
/** The parts of the document that the reference page shows. */
export type OpenApi = {
  openapi: string;
  info: { title: string; version: string; description: string; contact: object; license: object };
  servers: object[];
  tags: { name: string; description: string }[];
  security: object[];
  components: { schemas: Record<string, unknown>; securitySchemes: object };
  paths: Record<string, Record<string, Operation>>;
};

/** Describes all routes, including its own two, as OpenAPI and as a page. Generated on first use, because that takes a while. */
export function descriptionRoutes(routes: Route[]): Route[] {
  let document: OpenApi | undefined;
  let page: string | undefined;
  const described = (): OpenApi => {
    document ??= openapi([...routes, ...own]);
    return document;
  };
  const own = [
    route({
      method: 'GET',
      path: '/openapi.json',
      summary: 'Get this OpenAPI document',
      answers: { 200: { description: 'OpenAPI 3.1', schema: z.object({ openapi: z.literal('3.1.0') }) } },
      handle: described,
    }),
    route({
      method: 'GET',
      path: '/reference',
      summary: 'API reference as a web page',
      answers: { 200: { description: 'HTML', media_type: 'text/html' } },
      handle: (_, { reply }) => {
        page ??= renderReference(described());
        return reply
          .headers({
            'content-type': 'text/html; charset=utf-8',
            // The page has no scripts and loads nothing.
            'content-security-policy':
              "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
            'x-content-type-options': 'nosniff',
            'referrer-policy': 'no-referrer',
          })
          .send(page);
      },
    }),
  ];
  return own;
}

type Schemas = ReturnType<typeof componentSchemas>;

/** OpenAPI 3.1, from the same schemas that validate requests. */
function openapi(routes: Route[]): OpenApi {
  const schemas = componentSchemas();
  // Responses are converted first, so that they get the plain names.
  for (const { answers } of routes)
    for (const { schema } of Object.values(answers)) if (schema) schemas.of(schema, 'output');
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const path = route.path.replace(/\*$/, '{path}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation({ ...route, path }, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Capstan',
      version: '0.1.0',
      description:
        'A distributed job queue for tool invocations. Send a key in the header Authorization: Bearer <key>. Each operation names the roles of which the key needs one, also in x-roles.',
      contact: { name: 'The Capstan authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ key: [] }],
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A key, as returned by POST /v1/keys' } },
      schemas: { Problem: schemas.of(Problem, 'output'), ...schemas.all() },
    },
    paths,
  };
}

function toOperation(route: Route, schemas: Schemas): Operation {
  const operationId = operationName(route.method, route.path);
  const example = EXAMPLES[operationId];
  const body = route.body && {
    schema: schemas.of(route.body, 'input', 'inline'),
    ...(example ? { examples: { typical: { value: example.body } } } : {}),
  };
  return {
    operationId,
    tags: [tagOf(route.path)],
    summary: route.summary,
    description: `${route.summary}. ${needs(route.roles)}`,
    ...(route.roles ? { 'x-roles': route.roles } : { security: [] }),
    parameters: [
      ...pathParameters(route.path),
      ...(route.query ? queryParameters(route.query, schemas) : []),
      ...(route.idempotency_header ? [IDEMPOTENCY_KEY] : []),
      ...(route.if_match_header ? [IF_MATCH] : []),
    ],
    ...(body ? { requestBody: { required: true, content: { 'application/json': body } } } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, answer]) => [status, toResponse(answer, schemas)]),
      ),
      '4XX': PROBLEM,
      default: PROBLEM,
    },
  };
}

const needs = (roles: Route['roles']): string => {
  if (!roles) return 'Needs no key.';
  return roles.length === 1
    ? `The key needs the role ${roles[0]}.`
    : `The key needs one of the roles ${roles.join(', ')}.`;
};

function toResponse({ description, schema, media_type }: RouteAnswer, schemas: Schemas): Response {
  if (!schema && !media_type) return { description };
  const content = schema ? schemas.of(schema, 'output') : { type: 'string' };
  return { description, content: { [media_type ?? 'application/json']: { schema: content } } };
}

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

function queryParameters(query: z.ZodObject, schemas: Schemas) {
  return Object.entries(query.shape).map(([name, field]) => {
    const schema = schemas.of(z.object({ [name]: field }), 'input');
    const { properties = {}, required = [] } = schema as { properties?: Record<string, unknown>; required?: string[] };
    const said = field instanceof z.ZodType ? field.description : undefined;
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(said === undefined ? {} : { description: said }),
      schema: properties[name],
    };
  });
}

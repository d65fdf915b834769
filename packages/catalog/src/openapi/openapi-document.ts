import { z } from 'zod';

/** The parts of OpenAPI 3.0 and 3.1 that say how to call an operation. Other parts are allowed and ignored. */
const Schema = z.record(z.string(), z.unknown());

export const Parameter = z.looseObject({
  name: z.string().min(1).max(200),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  required: z.boolean().default(false),
  description: z.string().optional(),
  style: z.string().optional(),
  explode: z.boolean().optional(),
  schema: Schema.optional(),
  content: z.record(z.string(), z.looseObject({ schema: Schema.optional() })).optional(),
});
export type Parameter = z.infer<typeof Parameter>;

export const RequestBody = z.looseObject({
  required: z.boolean().default(false),
  description: z.string().optional(),
  content: z.record(z.string(), z.looseObject({ schema: Schema.optional() })),
});
export type RequestBody = z.infer<typeof RequestBody>;

const SecurityRequirement = z.record(z.string(), z.array(z.string()));

const Servers = z.array(
  z.looseObject({
    url: z.string(),
    variables: z.record(z.string(), z.looseObject({ default: z.string() })).default({}),
  }),
);
export type Servers = z.infer<typeof Servers>;

export const Operation = z.looseObject({
  operationId: z.string().max(300).optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).default([]),
  parameters: z.array(z.unknown()).default([]),
  requestBody: z.unknown().optional(),
  security: z.array(SecurityRequirement).optional(),
  servers: Servers.optional(),
});
export type Operation = z.infer<typeof Operation>;

/** An operation, including what its path and the document define for it. */
export type PlacedOperation = {
  name: string;
  method: string;
  path: string;
  base_url: string;
  operation: Operation;
  parameters: Parameter[];
  body: RequestBody | null;
};

/** What all operations of a path share. */
export const PathItem = z.looseObject({ parameters: z.array(z.unknown()).default([]), servers: Servers.optional() });
export type PathItem = z.infer<typeof PathItem>;

export const SecurityScheme = z.looseObject({
  type: z.string(),
  scheme: z.string().optional(),
  in: z.string().optional(),
  name: z.string().optional(),
});
export type SecurityScheme = z.infer<typeof SecurityScheme>;

export const OpenApiDocument = z.looseObject({
  openapi: z.string().regex(/^3\.[01]\./, 'expected OpenAPI 3.0 or 3.1'),
  // In YAML, `version: 1.0` is a number.
  info: z.looseObject({ title: z.string(), version: z.union([z.string(), z.number().transform(String)]) }),
  servers: Servers.default([]),
  paths: z.record(z.string(), z.unknown()).default({}),
  security: z.array(SecurityRequirement).default([]),
});
export type OpenApiDocument = z.infer<typeof OpenApiDocument>;

import { z } from 'zod';

const Schema = z.object({ type: z.union([z.string(), z.array(z.string())]).optional(), $ref: z.string().optional() });
const Parameter = z.object({ name: z.string(), in: z.string(), required: z.boolean().optional() });
const Operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  tags: z.array(z.string()).default(['Operations']),
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: Schema.optional() })) }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string() })),
  'x-roles': z.array(z.string()).optional(),
});
const OpenApi = z.object({ paths: z.record(z.string(), z.record(z.string(), Operation)) });

/** docs/reference/http.md, from what the gateway serves as /openapi.json. */
export const httpReference = (document: unknown): string => {
  const operations = Object.entries(OpenApi.parse(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
  const tags = [...new Set(operations.map(({ tags: [tag] }) => tag))];
  const rows = (tag: string | undefined) =>
    operations
      .filter((operation) => operation.tags[0] === tag)
      .map((operation) => {
        const query = operation.parameters.filter((each) => each.in === 'query').map(({ name }) => `\`${name}\``);
        const statuses = Object.keys(operation.responses).filter((status) => status !== 'default');
        const roles = operation['x-roles']?.join(', ') ?? '';
        return `| \`${operation.method} ${operation.path}\` | ${operation.summary.replaceAll('|', '\\|')} | ${roles} | ${query.join(' ')} | ${statuses.join(' ')} |`;
      })
      .join('\n');
  return `# HTTP API

The gateway serves the complete description with schemas and examples as OpenAPI 3.1 at \`/openapi.json\`, and as a page at \`/reference\`. This page lists every
route with the roles of which a key needs one, its query parameters and the statuses it answers. [Errors](errors.md) lists the error codes.

- Authenticate with \`Authorization: Bearer <key>\`. Without a key the answer is 401, without a role that is needed 403, and for anything of another tenant 404.
- Fields are snake_case, times are RFC 3339 in UTC. Hashes are \`sha256:\` and 64 hex digits over the RFC 8785 canonical JSON of the value.
- Lists answer \`{"items": […], "next_cursor": …}\` and take \`limit\` and \`cursor\`.
- Unknown body fields and query parameters are errors.

This page is generated from \`/openapi.json\`.
${tags.map((tag) => `\n## ${tag}\n\n| route | | roles | query | answers |\n|---|---|---|---|---|\n${rows(tag)}\n`).join('')}`;
};

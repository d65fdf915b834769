import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { baseUrl } from '../http/base-url.js';
import { type Asked, type Route, route } from '../http/route.js';
import { noBody } from './mcp-endpoint.js';
import { MCP_ROLES } from './protected-resource.js';

async function serve(gateway: GatewayContext, asked: Asked<unknown, unknown>) {
  const { principal, body, params, request, reply } = asked;
  if (request.method === 'POST' && body === undefined) throw noBody();
  const gone = new AbortController();
  reply.raw.on('close', () => gone.abort());
  const caller = { principal, toolset: params.toolset, base_url: baseUrl(gateway, request), signal: gone.signal };
  const sent = request.method === 'POST' ? body : undefined;
  const response = await gateway.mcp_endpoint.serve(gateway, toWebRequest(request, gone.signal), caller, sent);
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  void reply.send(response);
  // A stream may stay silent for a while. Until it gets the headers, its client does not know that it is open.
  if (isStream) reply.raw.flushHeaders();
  return reply;
}

function toWebRequest({ method, url, headers }: FastifyRequest, signal: AbortSignal): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) sent.set(name, Array.isArray(value) ? value.join(', ') : value);
  return new Request(new URL(url, 'http://gateway.invalid'), { method, headers: sent, signal });
}

const PATHS = ['/mcp', '/mcp/{toolset}'];
const common = { roles: MCP_ROLES, own_pages_only: true, is_protected_resource: true } satisfies Partial<Route>;

export const mcpRoutes: Route[] = PATHS.flatMap((path) => [
  route({
    ...{ ...common, method: 'POST', path, brings_work: true },
    summary: 'Capstan as an MCP server (streamable HTTP, 2025-11-25 and 2026-07-28): every tool the key may use',
    body: z.unknown(),
    answers: {
      200: { description: 'JSON-RPC, as JSON or text/event-stream' },
      202: { description: 'A notification or an answer was accepted' },
      404: { description: 'The session is not known' },
    },
    handle: serve,
  }),
  route({
    ...{ ...common, method: 'GET', path },
    summary: 'Server-sent event stream of an MCP session (2025 protocol)',
    answers: { 200: { description: 'JSON-RPC notifications', media_type: 'text/event-stream' } },
    handle: serve,
  }),
  route({
    ...{ ...common, method: 'DELETE', path },
    summary: 'End an MCP session (2025 protocol)',
    answers: { 200: { description: 'Ended' } },
    handle: serve,
  }),
]);

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { type Asked, type Route, route } from '../http/route.js';
import { noBody } from './mcp-endpoint.js';

async function serve(gateway: GatewayContext, asked: Asked<unknown, unknown>) {
  const { principal, body, params, request, reply } = asked;
  if (request.method === 'POST' && body === undefined) throw noBody();
  const gone = new AbortController();
  reply.raw.on('close', () => gone.abort());
  const caller = { principal, toolset: params.toolset, base_url: baseUrl(gateway, request), signal: gone.signal };
  const sent = request.method === 'POST' ? body : undefined;
  return reply.send(await gateway.mcp_endpoint.serve(gateway, toWebRequest(request, gone.signal), caller, sent));
}

const baseUrl = ({ public_url }: GatewayContext, { protocol, host }: FastifyRequest): string =>
  (public_url ?? `${protocol}://${host}`).replace(/\/$/, '');

function toWebRequest({ method, url, headers }: FastifyRequest, signal: AbortSignal): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) sent.set(name, Array.isArray(value) ? value.join(', ') : value);
  return new Request(new URL(url, 'http://gateway.invalid'), { method, headers: sent, signal });
}

const PATHS = ['/mcp', '/mcp/{toolset}'];
const common = { roles: ['submit'], own_pages_only: true } satisfies Partial<Route>;

export const mcpRoutes: Route[] = PATHS.flatMap((path) => [
  route({
    ...{ ...common, method: 'POST', path, brings_work: true },
    summary: 'Capstan as an MCP server (streamable HTTP, 2025-11-25 and 2026-07-28): every tool the key may use',
    body: z.unknown(),
    answers: {
      200: { description: 'JSON-RPC, as JSON or text/event-stream' },
      202: { description: 'A notification or an answer was taken' },
      404: { description: 'The session is not known' },
    },
    handle: serve,
  }),
  route({
    ...{ ...common, method: 'GET', path },
    summary: 'News for an MCP session of the 2025 protocol',
    answers: { 200: { description: 'JSON-RPC notifications', media_type: 'text/event-stream' } },
    handle: serve,
  }),
  route({
    ...{ ...common, method: 'DELETE', path },
    summary: 'End an MCP session of the 2025 protocol',
    answers: { 200: { description: 'Ended' } },
    handle: serve,
  }),
]);

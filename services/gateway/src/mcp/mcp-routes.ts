import { Failure } from '@capstan/contracts';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CancelledNotificationSchema, isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyRequest } from 'fastify';
import { nanoid } from 'nanoid';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { type Asked, type Route, route } from '../http/route.js';
import { cancel } from '../invocation/act-on.js';
import { createMcpServer, requestLabels } from './create-mcp-server.js';

const SESSION_HEADER = 'mcp-session-id';
const Session = z.string().regex(/^[\w-]{1,128}$/);

/** Streamable HTTP, stateless: a request is served by whichever gateway it comes to, with a server made for it. */
async function serve(gateway: GatewayContext, { principal, body, request, reply }: Asked<unknown, unknown>) {
  const session = sessionOf(request);
  if (session !== undefined) await passCancelOn(gateway, { principal, session, body });
  const gone = new AbortController();
  reply.raw.on('close', () => gone.abort());
  const server = createMcpServer(gateway, { principal, session, signal: gone.signal });
  const transport = new WebStandardStreamableHTTPServerTransport();
  await server.connect(transport);
  gone.signal.addEventListener('abort', () => void server.close().catch(() => {}));
  const response = await transport.handleRequest(toWebRequest(request), { parsedBody: body });
  // The id keeps no state here; with it a client can say which of its calls it cancels.
  if (isInitializeRequest(body)) reply.header(SESSION_HEADER, nanoid());
  return reply.send(response);
}

const sessionOf = ({ headers }: FastifyRequest): string | undefined => Session.safeParse(headers[SESSION_HEADER]).data;

type Notice = { principal: Asked<unknown, unknown>['principal']; session: string; body: unknown };

/** It comes in a request of its own, so the server made for it knows nothing of the call. */
async function passCancelOn(gateway: GatewayContext, { principal, session, body }: Notice): Promise<void> {
  for (const message of Array.isArray(body) ? body : [body]) {
    const { data } = CancelledNotificationSchema.safeParse(message);
    if (data?.params.requestId === undefined) continue;
    const labels = Object.entries(requestLabels(session, data.params.requestId)).map(
      ([key, value]) => `${key}:${value}`,
    );
    await cancel(gateway, principal, { label: labels, actor: principal.actor });
  }
}

function toWebRequest({ method, url, headers }: FastifyRequest): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) sent.set(name, Array.isArray(value) ? value.join(', ') : value);
  return new Request(new URL(url, 'http://gateway.invalid'), { method, headers: sent });
}

/** GET and DELETE are answered 405, as the protocol has it: there is no stream of its own, and no session to end. */
export const mcpRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/mcp',
    summary: 'Capstan as an MCP server (streamable HTTP): every tool the key may use',
    roles: ['submit'],
    brings_work: true,
    own_pages_only: true,
    body: z.unknown(),
    answers: {
      200: { description: 'JSON-RPC, as text/event-stream' },
      202: { description: 'A notification was taken' },
    },
    handle: async (gateway, asked) => {
      if (asked.body === undefined) throw new Failure('MALFORMED_JSON', { detail: 'A JSON-RPC message is expected.' });
      return serve(gateway, asked);
    },
  }),
];

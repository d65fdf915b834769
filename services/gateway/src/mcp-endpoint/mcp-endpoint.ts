import { Failure, isObject, type Principal, toJsonObject } from '@capstan/contracts';
import { endMcpSession, findMcpSession, openMcpSession } from '@capstan/store/mcp-session';
import { getToolset } from '@capstan/store/toolset';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  LATEST_PROTOCOL_VERSION,
  type McpHttpHandler,
  type ServerEvent,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { nanoid } from 'nanoid';
import type { GatewayContext } from '../gateway-context.js';
import { cancel, notFound } from '../invocation/act-on.js';
import { takeClientAnswer } from './ask-client.js';
import { requestLabels } from './call-tool.js';
import { type Ask, CapstanMcpServer } from './create-mcp-server.js';
import type { McpVisit } from './exchange.js';
import { isServed } from './methods.js';
import { subscribeAll, tellUpdates } from './subscriptions.js';

const SESSION_HEADER = 'mcp-session-id';
const KEEP_ALIVE_MS = 15_000;

export type McpCaller = {
  principal: Principal;
  toolset: string | undefined;
  base_url: string;
  signal: AbortSignal;
};

/** Serves both versions of the protocol at one address, depending on what a client sends. */
export type McpEndpoint = {
  serve(gateway: GatewayContext, request: Request, caller: McpCaller, body: unknown): Promise<Response>;
  close(): Promise<void>;
};

export function createMcpEndpoint(): McpEndpoint {
  const visits = new WeakMap<Request, { gateway: GatewayContext; visit: McpVisit; method: unknown }>();
  let modern: McpHttpHandler | null = null;
  const modernFor = ({ mcp_news, log }: GatewayContext): McpHttpHandler => {
    modern ??= createMcpHandler(
      ({ requestInfo }) => {
        const made = requestInfo && visits.get(requestInfo);
        if (!made) throw new Error('an MCP request has no caller');
        const { gateway, visit, method } = made;
        return new CapstanMcpServer(gateway, visit, { era: 'modern', ask: noAsk, is_served: isServed(method) });
      },
      {
        legacy: 'reject',
        bus: mcp_news,
        keepAliveMs: KEEP_ALIVE_MS,
        onerror: (error) => log.debug({ err: error }, 'an MCP request was refused'),
      },
    );
    return modern;
  };
  return {
    serve: async (gateway, request, caller, body) => {
      const visit = await toVisit(gateway, caller);
      if (await isLegacyRequest(request, body)) return serveLegacy(gateway, request, visit, body);
      visits.set(request, { gateway, visit, method: isObject(body) ? body.method : undefined });
      return modernFor(gateway).fetch(request, { parsedBody: await subscribeAll(gateway, visit, body) });
    },
    close: async () => modern?.close(),
  };
}

const noAsk: Ask = () => Promise.reject(new Error('the newest protocol has no requests to clients'));

async function toVisit(gateway: GatewayContext, { toolset, ...caller }: McpCaller): Promise<McpVisit> {
  const known = toolset === undefined ? null : await getToolset(gateway.store.db, caller.principal.tenant, toolset);
  if (known === undefined) throw notFound(`toolset ${toolset}`);
  return { ...caller, session: null, toolset: known };
}

/** A session of the 2025 protocol is a row, so any gateway can serve its requests. */
async function serveLegacy(
  gateway: GatewayContext,
  request: Request,
  visit: McpVisit,
  body: unknown,
): Promise<Response> {
  const { principal } = visit;
  const session_id = request.headers.get(SESSION_HEADER);
  if (session_id !== null && !isInitializeRequest(body)) {
    const session = await findMcpSession(gateway.store, principal, session_id);
    if (!session) return rpcError(404, -32_001, 'Session not found');
    if (request.method === 'DELETE') {
      await endMcpSession(gateway.store, principal, session_id);
      return new Response(null, { status: 200 });
    }
    return exchange(gateway, request, { ...visit, session }, body);
  }
  if (request.method !== 'POST') return rpcError(400, -32_000, 'Bad Request: Mcp-Session-Id is missing');
  const response = await exchange(gateway, request, visit, body);
  if (!isInitializeRequest(body) || !response.ok) return response;
  const { protocolVersion, capabilities, clientInfo } = body.params;
  const id = nanoid();
  await openMcpSession(gateway.store, principal, {
    session_id: id,
    protocol_version: SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : LATEST_PROTOCOL_VERSION,
    capabilities: toJsonObject(capabilities),
    client_info: toJsonObject(clientInfo),
  });
  response.headers.set(SESSION_HEADER, id);
  return response;
}

async function exchange(gateway: GatewayContext, request: Request, visit: McpVisit, body: unknown): Promise<Response> {
  if (await takeNotices(gateway, visit, body)) return new Response(null, { status: 202 });
  const transport = new WebStandardStreamableHTTPServerTransport({ keepAliveMs: KEEP_ALIVE_MS });
  const ask: Ask = (id, method, params, during) =>
    transport.send({ jsonrpc: '2.0', id, method, params }, { relatedRequestId: during });
  const server = new CapstanMcpServer(gateway, visit, { era: 'legacy', ask });
  await server.connect(transport);
  const isStream = request.method === 'GET';
  const stopTelling = isStream ? tellNews(gateway, server) : () => {};
  if (isStream) tellUpdates(gateway, visit, (uri) => server.server.sendResourceUpdated({ uri }));
  // A stream stays open until its client leaves, which would keep the gateway from stopping.
  const over = isStream ? AbortSignal.any([visit.signal, gateway.stopping]) : visit.signal;
  over.addEventListener('abort', () => {
    stopTelling();
    void server.close().catch(() => {});
  });
  return transport.handleRequest(request, { parsedBody: body });
}

/**
 * Handles messages that belong to another request: the cancellation of a call, or the answer to a question. Returns true if the
 * body contains nothing but answers.
 */
async function takeNotices(gateway: GatewayContext, { principal, session }: McpVisit, body: unknown): Promise<boolean> {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  for (const message of messages) {
    if (!isObject(message)) return false;
    if (message.method === undefined && message.id !== undefined) {
      await takeClientAnswer(gateway, principal, { id: message.id, result: message.result, error: message.error });
    } else if (message.method === 'notifications/cancelled' && session && isObject(message.params)) {
      const { requestId } = message.params;
      if (typeof requestId !== 'string' && typeof requestId !== 'number') continue;
      const labels = Object.entries(requestLabels(session.session_id, requestId));
      const label = labels.map(([key, value]) => `${key}:${value}`);
      await cancel(gateway, principal, { label, actor: principal.actor });
    }
  }
  return messages.every((message) => isObject(message) && message.method === undefined);
}

/** Sends notifications of changed lists on the stream that a client holds open. Returns how to stop. */
function tellNews({ mcp_news }: GatewayContext, { server }: CapstanMcpServer): () => void {
  const tell = async (event: ServerEvent): Promise<void> => {
    if (event.kind === 'tools_list_changed') await server.sendToolListChanged();
    if (event.kind === 'prompts_list_changed') await server.sendPromptListChanged();
    if (event.kind === 'resources_list_changed') await server.sendResourceListChanged();
  };
  return mcp_news.subscribe((event) => void tell(event).catch(() => {}));
}

const rpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });

export const noBody = () => new Failure('MALFORMED_JSON', { detail: 'A JSON-RPC message is expected.' });

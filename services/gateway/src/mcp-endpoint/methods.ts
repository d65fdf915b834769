import { contextFrom, fail, isTracing, SpanKind, startSpan, within } from '@capstan/backbone';
import { setMcpLogLevel } from '@capstan/store/mcp-session';
import { ProtocolError, ProtocolErrorCode, type Result } from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { toFailure } from '../http/answer-failure.js';
import { callTool } from './call-tool.js';
import type { Exchange } from './exchange.js';
import { listTools } from './list-tools.js';
import { complete, getPrompt, listPrompts, listResources, listTemplates, readResource } from './prompts-resources.js';
import { callOrSearch, SEARCH_TOOLS } from './search-tools.js';
import { subscribe } from './subscriptions.js';
import { legacyTasks, modernTasks } from './tasks.js';

export type Method = (gateway: GatewayContext, exchange: Exchange) => Promise<Result> | Result;

/** Lists depend on the key and change with the policy, so clients may cache them only briefly and must not share them. */
const LIST_TTL_MS = 5000;
const listed = ({ is_modern }: Exchange, result: Result): Result =>
  is_modern ? { ...result, ttlMs: LIST_TTL_MS, cacheScope: 'private' } : result;

const COMMON: Record<string, Method> = {
  'tools/list': (gateway, exchange) => {
    const { visit } = exchange;
    return listed(exchange, { tools: visit.toolset?.search ? SEARCH_TOOLS : listTools(gateway, visit) });
  },
  'tools/call': (gateway, exchange) =>
    exchange.visit.toolset?.search ? callOrSearch(gateway, exchange) : callTool(gateway, exchange),
  'prompts/list': (gateway, exchange) => listed(exchange, { prompts: listPrompts(gateway, exchange.visit) }),
  'prompts/get': getPrompt,
  'resources/list': (gateway, exchange) => listed(exchange, { resources: listResources(gateway, exchange.visit) }),
  'resources/templates/list': (gateway, exchange) =>
    listed(exchange, { resourceTemplates: listTemplates(gateway, exchange.visit) }),
  'resources/read': readResource,
  'completion/complete': complete,
};

const LEGACY: Record<string, Method> = {
  ...COMMON,
  ...legacyTasks,
  ping: () => ({}),
  'resources/subscribe': (gateway, exchange) => subscribe(gateway, exchange, true),
  'resources/unsubscribe': (gateway, exchange) => subscribe(gateway, exchange, false),
  'logging/setLevel': async ({ store }, { visit, params }) => {
    if (!LEVELS.has(String(params.level)))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no level ${JSON.stringify(params.level)}.`);
    if (visit.session) await setMcpLogLevel(store, visit.session.session_id, String(params.level));
    return {};
  },
};

const LEVELS: ReadonlySet<string> = new Set([
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
]);

const MODERN: Record<string, Method> = { ...COMMON, ...modernTasks };

/** The SDK refuses unknown methods, because it knows the status code that the protocol requires. */
export const isServed = (method: unknown): boolean => typeof method === 'string' && Object.hasOwn(MODERN, method);

export function dispatch(gateway: GatewayContext, method: string, exchange: Exchange): Promise<Result> | Result {
  const methods = exchange.is_modern ? MODERN : LEGACY;
  const act = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!act) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
  return inTraceOf(exchange, method, async () => {
    try {
      return await act(gateway, exchange);
    } catch (error) {
      throw error instanceof ProtocolError ? error : told(gateway, exchange, method, error);
    }
  });
}

/** The SDK would answer with the words of Postgres or of a library. */
function told({ log }: GatewayContext, { visit: { principal, signal } }: Exchange, method: string, error: unknown) {
  const { code, status, message, suggestion, retryable } = toFailure(error);
  if (status >= 500 && !signal.aborted)
    log.error({ err: error, tenant: principal.tenant, method }, 'an MCP request failed');
  const kind = status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(kind, `${message}\n${suggestion}`, { code, retryable });
}

/** MCP clients name their trace in `_meta`; the request becomes part of it. */
async function inTraceOf(
  { meta: { traceparent, tracestate } }: Exchange,
  method: string,
  act: () => Promise<Result> | Result,
): Promise<Result> {
  if (!isTracing() || typeof traceparent !== 'string') return act();
  const parent = contextFrom({ traceparent, ...(typeof tracestate === 'string' ? { tracestate } : {}) });
  const span = startSpan(`mcp ${method}`, { kind: SpanKind.SERVER, parent, attributes: { 'mcp.method.name': method } });
  try {
    return await within(span, act);
  } catch (error) {
    fail(span, error instanceof Error ? error.name : 'error');
    throw error;
  } finally {
    span.end();
  }
}

import { changeMcpSession } from '@capstan/store';
import { ProtocolError, ProtocolErrorCode, type Result } from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { callTool } from './call-tool.js';
import type { Exchange } from './exchange.js';
import { listTools } from './list-tools.js';
import {
  complete,
  getPrompt,
  listPrompts,
  listResources,
  listTemplates,
  readResource,
  subscribe,
} from './prompts-resources.js';
import { callOrSearch, SEARCH_TOOLS } from './search-tools.js';
import { legacyTasks, modernTasks } from './tasks.js';

export type Method = (gateway: GatewayContext, exchange: Exchange) => Promise<Result> | Result;

/** Lists are what a key may see, and change with the policy: nobody keeps them for long, and nobody shares them. */
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
    if (visit.session) await changeMcpSession(store, visit.session.session_id, { log_level: String(params.level) });
    return {};
  },
};

const LEVELS: ReadonlySet<string> = new Set([
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
]);

const MODERN: Record<string, Method> = { ...COMMON, ...modernTasks };

/** A method that nobody serves is for the SDK to refuse, which knows the status that the protocol wants. */
export const isServed = (method: unknown): boolean => typeof method === 'string' && Object.hasOwn(MODERN, method);

export function dispatch(gateway: GatewayContext, method: string, exchange: Exchange): Promise<Result> | Result {
  const methods = exchange.is_modern ? MODERN : LEGACY;
  const act = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!act) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
  return act(gateway, exchange);
}

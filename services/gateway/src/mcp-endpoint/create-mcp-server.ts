import { isObject, type Json, JsonObject } from '@capstan/contracts';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  McpServer,
  type Result,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { type Exchange, type McpVisit, TASKS_EXTENSION } from './exchange.js';
import { resolveTool } from './list-tools.js';
import { dispatch } from './methods.js';

/** How the endpoint introduces itself. */
export const INFO = { name: 'capstan', version: '0.1.0' };
const INSTRUCTIONS =
  'Every call is decided by policy. A call may be held until a person agrees: it then answers with an id instead of a ' +
  'result, and has not run. Call it as a task to wait for the decision.';

const COMMON: ServerCapabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};
const LEGACY: ServerCapabilities = {
  ...COMMON,
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
};
const MODERN: ServerCapabilities = { ...COMMON, extensions: { [TASKS_EXTENSION]: {} } };

const Anything = z.looseObject({});

/** Sends a request to a client of the 2025 protocol, on the stream of the client's own request. */
export type Ask = (id: string, method: string, params: JsonObject, during: string | number) => Promise<void>;

export type Serving = {
  era: 'legacy' | 'modern';
  ask: Ask;
  /** False if the requested method does not exist. */
  is_served?: boolean;
};

/**
 * Capstan as an MCP server, for one request: the only state between requests is in Postgres. The SDK implements both versions of
 * the protocol; the methods are in methods.ts.
 */
export class CapstanMcpServer extends McpServer {
  readonly #gateway: GatewayContext;
  readonly #visit: McpVisit;

  constructor(gateway: GatewayContext, visit: McpVisit, { era, ask, is_served = true }: Serving) {
    const instructions = visit.toolset?.description ?? INSTRUCTIONS;
    super(INFO, { instructions });
    // Not in the constructor: the SDK would then serve the tools, prompts and resources registered with it, which are none.
    this.server.registerCapabilities(era === 'modern' ? MODERN : LEGACY);
    this.#gateway = gateway;
    this.#visit = visit;
    const handle = async (
      request: Pick<JSONRPCRequest, 'method' | 'params'>,
      context: ServerContext,
    ): Promise<Result> =>
      dispatch(gateway, request.method, toExchange(visit, era === 'modern', request.params, context, ask));
    // The SDK keeps the log level of a session in memory, but this server lives for one request.
    this.server.removeRequestHandler('logging/setLevel');
    if (is_served) this.server.fallbackRequestHandler = handle;
    // The SDK accepts these methods of the older protocol, which the tasks extension took over, only with explicit handlers.
    if (era === 'modern')
      for (const method of ['tasks/get', 'tasks/cancel'])
        this.server.setRequestHandler(method, { params: Anything, result: Anything }, (params, context) =>
          handle({ method, params }, context),
        );
  }

  /** The SDK reads from it which arguments a call has to repeat in its headers. */
  override toolInputSchemaJson(name: string): JsonObject | undefined {
    return resolveTool(this.#gateway, this.#visit, name)?.entry.descriptor.input_schema;
  }
}

function toExchange(visit: McpVisit, is_modern: boolean, sent: unknown, { mcpReq }: ServerContext, ask: Ask): Exchange {
  const envelope = toJsonObject(mcpReq.envelope);
  const { _meta, ...params } = toJsonObject(sent);
  const level = is_modern ? envelope[LOG_LEVEL_META_KEY] : (visit.session?.log_level ?? 'info');
  const state = mcpReq.requestState<string>();
  return {
    visit,
    is_modern,
    id: mcpReq.id,
    params,
    meta: isObject(_meta) ? _meta : {},
    capabilities: is_modern ? objectOf(envelope[CLIENT_CAPABILITIES_META_KEY]) : (visit.session?.capabilities ?? {}),
    log_level: typeof level === 'string' ? level : null,
    answers: Object.fromEntries(
      Object.entries(toJsonObject(mcpReq.inputResponses)).flatMap(([key, given]) =>
        isObject(given) ? [[key, given]] : [],
      ),
    ),
    request_state: typeof state === 'string' ? state : undefined,
    notify: mcpReq.notify,
    ask: (id, method, asked) => ask(id, method, asked, mcpReq.id),
  };
}

/** Parsed from JSON before. */
const toJsonObject = (value: unknown): JsonObject => JsonObject.safeParse(value ?? {}).data ?? {};
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

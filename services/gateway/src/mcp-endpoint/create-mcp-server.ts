import { type Json, JsonObject } from '@capstan/contracts';
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
import { type Exchange, isObject, type McpVisit, TASKS_EXTENSION } from './exchange.js';
import { resolveTool } from './list-tools.js';
import { dispatch } from './methods.js';

const INFO = { name: 'capstan', version: '0.1.0' };
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

/** How a client of the 2025 protocol is asked something on the stream of its request. */
export type Ask = (id: string, method: string, params: JsonObject, during: string | number) => Promise<void>;

export type Serving = {
  era: 'legacy' | 'modern';
  ask: Ask;
  /** Whether there is such a method. */
  is_served?: boolean;
};

/**
 * Capstan as an MCP server, for the length of one request: nothing is kept between requests but rows. The SDK speaks the
 * protocol in both its forms; what the methods do is decided in one place, methods.ts.
 */
export class CapstanMcpServer extends McpServer {
  readonly #gateway: GatewayContext;
  readonly #visit: McpVisit;

  constructor(gateway: GatewayContext, visit: McpVisit, { era, ask, is_served = true }: Serving) {
    const instructions = visit.toolset?.description ?? INSTRUCTIONS;
    super(INFO, { instructions });
    // Not with the constructor, which would answer for tools, prompts and resources that were registered here: none.
    this.server.registerCapabilities(era === 'modern' ? MODERN : LEGACY);
    this.#gateway = gateway;
    this.#visit = visit;
    const handle = async (
      request: Pick<JSONRPCRequest, 'method' | 'params'>,
      context: ServerContext,
    ): Promise<Result> =>
      dispatch(gateway, request.method, toExchange(visit, era === 'modern', request.params, context, ask));
    // The SDK keeps the level of a session in memory, and this server is for one request.
    this.server.removeRequestHandler('logging/setLevel');
    if (is_served) this.server.fallbackRequestHandler = handle;
    // Methods of the older protocol that the extension has taken over are let through only for who says so.
    if (era === 'modern')
      for (const method of ['tasks/get', 'tasks/cancel'])
        this.server.setRequestHandler(method, { params: Anything, result: Anything }, (params, context) =>
          handle({ method, params }, context),
        );
  }

  /** Which arguments a call has to repeat in its headers. */
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

/** It came out of JSON.parse. */
const toJsonObject = (value: unknown): JsonObject => JsonObject.safeParse(value ?? {}).data ?? {};
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

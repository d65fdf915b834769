import { mcpMethodId } from '@capstan/catalog';
import {
  Failure,
  type Invocation,
  isObject,
  type Json,
  type JsonObject,
  type McpListing,
  type McpMethod,
  matchesWildcard,
} from '@capstan/contracts';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Result,
  UriTemplate,
} from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { beginCall, settleCall } from './call-tool.js';
import type { Exchange, McpVisit } from './exchange.js';
import { decideListing } from './list-tools.js';
import { protocolErrorIn, toWaitingText, withBlobs } from './to-call-result.js';

type Offer = { server: string; listing: McpListing };

/** The servers whose prompts or resources the caller may use: those of the toolset that policy does not deny. */
function offersFor({ catalog, policies, mcp_listings }: GatewayContext, visit: McpVisit, method: McpMethod): Offer[] {
  const policy = policies.of(visit.principal.tenant);
  const { toolset } = visit;
  return mcp_listings.all().filter(({ server }) => {
    const entry = catalog.get(mcpMethodId(server, method));
    const isChosen = !toolset || toolset.servers.some((pattern) => matchesWildcard(pattern, server));
    return entry !== undefined && isChosen && decideListing(policy, visit, entry).effect !== 'deny';
  });
}

type NamedPrompt = { server: string; own_name: string; prompt: JsonObject };

/** Prompts keep their own names if those are unique; otherwise the name of the server is put in front. */
function promptsFor(gateway: GatewayContext, visit: McpVisit): Map<string, NamedPrompt> {
  const all = offersFor(gateway, visit, 'prompts/get').flatMap(({ server, listing }) =>
    listing.prompts.map((prompt): NamedPrompt => ({ server, own_name: String(prompt.name), prompt })),
  );
  const isUnique = (name: string) => all.filter(({ own_name }) => own_name === name).length === 1;
  return new Map(all.map((one) => [isUnique(one.own_name) ? one.own_name : `${one.server}_${one.own_name}`, one]));
}

export const listPrompts = (gateway: GatewayContext, visit: McpVisit): JsonObject[] =>
  [...promptsFor(gateway, visit)].map(([name, { prompt, server }]) => ({ ...prompt, name, ...from(prompt, server) }));

export const listResources = (gateway: GatewayContext, visit: McpVisit): JsonObject[] =>
  uniqueBy('uri', gateway, visit, ({ resources }) => resources);

export const listTemplates = (gateway: GatewayContext, visit: McpVisit): JsonObject[] =>
  uniqueBy('uriTemplate', gateway, visit, ({ resource_templates }) => resource_templates);

/** If two servers have the same URI, the first one serves it. */
function uniqueBy(
  key: string,
  gateway: GatewayContext,
  visit: McpVisit,
  pick: (listing: McpListing) => JsonObject[],
): JsonObject[] {
  const items = new Map<string, JsonObject>();
  for (const { server, listing } of offersFor(gateway, visit, 'resources/read'))
    for (const item of pick(listing)) {
      const id = String(item[key]);
      if (!items.has(id)) items.set(id, { ...item, ...from(item, server) });
    }
  return [...items.values()];
}

const from = ({ _meta }: JsonObject, server: string): JsonObject => ({
  _meta: { ...(isObject(_meta) ? _meta : {}), 'capstan/server': server },
});

export async function getPrompt(gateway: GatewayContext, exchange: Exchange): Promise<Result> {
  const { name, arguments: args } = exchange.params;
  const prompt = promptsFor(gateway, exchange.visit).get(String(name));
  if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${JSON.stringify(name)}.`);
  const inputs = { name: prompt.own_name, ...(isObject(args) ? { arguments: args } : {}) };
  return pass(gateway, exchange, prompt.server, 'prompts/get', inputs);
}

export async function readResource(gateway: GatewayContext, exchange: Exchange): Promise<Result> {
  const uri = String(exchange.params.uri ?? '');
  const server = serverOf(gateway, exchange.visit, uri);
  if (server === undefined) throw new ResourceNotFoundError(uri);
  const result = await pass(gateway, exchange, server, 'resources/read', { uri });
  if (!exchange.is_modern || result.resultType === 'input_required') return result;
  // Private, whatever the server says: policy may decide differently for another caller.
  return { ...result, ttlMs: typeof result.ttlMs === 'number' ? result.ttlMs : 0, cacheScope: 'private' };
}

/** The server that lists a resource, has a template for it, or is the only one that could have it. */
export function serverOf(gateway: GatewayContext, visit: McpVisit, uri: string): string | undefined {
  const offers = offersFor(gateway, visit, 'resources/read');
  const listed = offers.find(({ listing }) => listing.resources.some((resource) => resource.uri === uri));
  const matched = offers.find(({ listing }) => listing.resource_templates.some((template) => matches(template, uri)));
  return (listed ?? matched ?? (offers.length === 1 ? offers[0] : undefined))?.server;
}

function matches({ uriTemplate }: JsonObject, uri: string): boolean {
  try {
    return new UriTemplate(String(uriTemplate)).match(uri) !== null;
  } catch {
    return false;
  }
}

export async function complete(gateway: GatewayContext, exchange: Exchange): Promise<Result> {
  const { ref, argument, context } = exchange.params;
  const none = { completion: { values: [] } };
  if (!isObject(ref) || !isObject(argument))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'ref or argument');
  const given = { argument, ...(isObject(context) ? { context } : {}) };
  if (ref.type === 'ref/prompt') {
    const prompt = promptsFor(gateway, exchange.visit).get(String(ref.name));
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${String(ref.name)}.`);
    if (!completes(gateway, prompt.server)) return none;
    const inputs = { ref: { ...ref, name: prompt.own_name }, ...given };
    return pass(gateway, exchange, prompt.server, 'completion/complete', inputs);
  }
  const template = String(ref.uri);
  const offers = offersFor(gateway, exchange.visit, 'resources/read');
  const server = offers.find(({ listing }) => listing.resource_templates.some((one) => one.uriTemplate === template));
  if (!server) throw new ResourceNotFoundError(template);
  if (!completes(gateway, server.server)) return none;
  return pass(gateway, exchange, server.server, 'completion/complete', { ref, ...given });
}

const completes = ({ catalog }: GatewayContext, server: string): boolean =>
  catalog.get(mcpMethodId(server, 'completion/complete')) !== undefined;

/** Forwards a request to an MCP server, as a call like any other. */
async function pass(
  gateway: GatewayContext,
  exchange: Exchange,
  server: string,
  method: McpMethod,
  inputs: JsonObject,
): Promise<Result> {
  try {
    const invocation = await beginCall(gateway, exchange, mcpMethodId(server, method), inputs);
    const settled = await settleCall(gateway, exchange, invocation, { task: undefined, can_be_task: false });
    if (settled.kind === 'answer') return settled.result;
    return await resultOf(gateway, exchange.visit, settled.invocation, String(inputs.uri ?? ''));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const code = error.kind === 'INVALID_INPUTS' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InvalidRequest;
    throw new ProtocolError(code, `${error.message}\n${error.suggestion}`);
  }
}

async function resultOf(
  gateway: GatewayContext,
  visit: McpVisit,
  invocation: Invocation,
  uri: string,
): Promise<Result> {
  const { status, result, invocation_id, hold_id, runner } = invocation;
  if (result?.success) {
    const payload: Json = await withBlobs(gateway, visit, result.payload);
    return { ...(isObject(payload) ? payload : {}), _meta: { 'capstan/invocation_id': invocation_id } };
  }
  const error = protocolErrorIn(invocation);
  if (error && uri !== '' && NOT_FOUND.has(error.code)) throw new ResourceNotFoundError(uri);
  if (error) throw new ProtocolError(error.code, error.message, error.data);
  const why =
    status === 'held'
      ? toWaitingText(visit, invocation)
      : `The ${runner} call ${invocation_id} gave no result: ${result?.error ?? status}`;
  throw new ProtocolError(ProtocolErrorCode.InternalError, why, { invocation_id, hold_id });
}

/** In the older protocol, and in the newest. */
const NOT_FOUND: ReadonlySet<number> = new Set([-32_002, -32_602]);

import { mcpMethodId } from '@capstan/catalog';
import {
  Failure,
  type Invocation,
  type Json,
  type JsonObject,
  type McpListing,
  type McpMethod,
  matchesWildcard,
} from '@capstan/contracts';
import { changeMcpSession } from '@capstan/store';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Result,
  UriTemplate,
} from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { submit } from '../invocation/submit.js';
import { beginCall, settleCall } from './call-tool.js';
import { type Exchange, isObject, type McpVisit } from './exchange.js';
import { decideListing } from './list-tools.js';
import { protocolErrorIn, withBlobs } from './to-call-result.js';

type Offer = { server: string; listing: McpListing };

/** Servers whose prompts or resources this visit may see: those of its toolset, as far as the policy goes. */
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

/** Under their own names, where no two servers have the same. */
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

/** Of two servers with the same URI the first is asked. */
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
  return pass(gateway, exchange, server, 'resources/read', { uri });
}

/** The server that lists a resource, has a template for it, or is the only one that could have it. */
function serverOf(gateway: GatewayContext, visit: McpVisit, uri: string): string | undefined {
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

export async function subscribe(gateway: GatewayContext, exchange: Exchange, wanted: boolean): Promise<Result> {
  const { session } = exchange.visit;
  const uri = String(exchange.params.uri ?? '');
  if (session) {
    const others = session.subscriptions.filter((one) => one !== uri);
    await changeMcpSession(gateway.store, session.session_id, { subscriptions: wanted ? [...others, uri] : others });
  }
  if (wanted) await subscribeUpstream(gateway, exchange.visit, uri);
  return {};
}

/** So that a worker hears of changes. A server that cannot tell of them is asked by whoever reads it. */
async function subscribeUpstream(gateway: GatewayContext, visit: McpVisit, uri: string): Promise<void> {
  const server = serverOf(gateway, visit, uri);
  if (server === undefined) return;
  gateway.mcp_news.watch(server, uri);
  const tool_id = mcpMethodId(server, 'resources/subscribe');
  if (!gateway.catalog.get(tool_id)) return;
  await submit(gateway, visit.principal, { tool_id, inputs: { uri } }, 0).catch(refused);
}

/** What a client of the newest protocol wants to hear of comes in one request. */
export async function subscribeAll(gateway: GatewayContext, visit: McpVisit, body: unknown): Promise<void> {
  const { method, params } = isObject(body) ? body : {};
  if (method !== 'subscriptions/listen' || !isObject(params) || !isObject(params.notifications)) return;
  const { resourceSubscriptions } = params.notifications;
  for (const uri of Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [])
    if (typeof uri === 'string') await subscribeUpstream(gateway, visit, uri);
}

/** The policy may say no; then there is no news either. */
const refused = (error: unknown): void => {
  if (!(error instanceof Failure)) throw error;
};

/** A request that goes on to another server, as a call like any other. */
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
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `${error.message} ${error.suggestion}`);
  }
}

async function resultOf(
  gateway: GatewayContext,
  visit: McpVisit,
  invocation: Invocation,
  uri: string,
): Promise<Result> {
  const { status, result, invocation_id, runner } = invocation;
  if (result?.success) {
    const payload: Json = await withBlobs(gateway, visit, result.payload);
    return { ...(isObject(payload) ? payload : {}), _meta: { 'capstan/invocation_id': invocation_id } };
  }
  const error = protocolErrorIn(invocation);
  if (error && uri !== '' && NOT_FOUND.has(error.code)) throw new ResourceNotFoundError(uri);
  if (error) throw new ProtocolError(error.code, error.message, error.data);
  const why = result?.error ?? (status === 'held' ? `it waits for a person: ${invocation.decision.reason}` : status);
  throw new ProtocolError(
    ProtocolErrorCode.InternalError,
    `The ${runner} call ${invocation_id} gave no result: ${why}`,
  );
}

/** In the older protocol, and in the newest. */
const NOT_FOUND: ReadonlySet<number> = new Set([-32_002, -32_602]);

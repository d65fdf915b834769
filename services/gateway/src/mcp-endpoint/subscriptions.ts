import { mcpMethodId } from '@capstan/catalog';
import { Failure, isObject } from '@capstan/contracts';
import { findMcpSession, mcpResourceTopic, setMcpSubscription } from '@capstan/store/mcp-session';
import { ProtocolError, ProtocolErrorCode, type Result } from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { submit } from '../invocation/submit.js';
import { type Exchange, type McpVisit, toolsetLabels } from './exchange.js';
import { decideListing } from './list-tools.js';
import { serverOf } from './prompts-resources.js';

/** A server forgets a subscription with its connection, which a worker closes after five idle minutes. */
const RENEW_MS = 240_000;
/** Of one listener. Each is a recorded call, and is renewed. */
const MAX_SUBSCRIPTIONS = 100;

/** Subscribes a session of the 2025 protocol, or ends its subscription. */
export async function subscribe(gateway: GatewayContext, exchange: Exchange, wanted: boolean): Promise<Result> {
  const { session } = exchange.visit;
  const uri = String(exchange.params.uri ?? '');
  if (wanted && session && session.subscriptions.length >= MAX_SUBSCRIPTIONS && !session.subscriptions.includes(uri))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `This session has ${MAX_SUBSCRIPTIONS} subscriptions already, which is the limit.`,
    );
  const begun = wanted && (await subscribeUpstream(gateway, exchange.visit, uri)) !== undefined;
  if (session) await setMcpSubscription(gateway.store, session.session_id, uri, begun);
  return {};
}

/**
 * Subscribes a worker at the server, if the server supports subscriptions. Otherwise its clients get no updates. Returns the server;
 * undefined if the caller may not hear of this resource, by its toolset or by policy.
 */
async function subscribeUpstream(gateway: GatewayContext, visit: McpVisit, uri: string): Promise<string | undefined> {
  const server = serverOf(gateway, visit, uri);
  if (server === undefined) return undefined;
  const tool_id = mcpMethodId(server, 'resources/subscribe');
  if (!gateway.catalog.get(tool_id)) return server;
  try {
    await submit(gateway, visit.principal, { tool_id, inputs: { uri }, labels: toolsetLabels(visit.toolset) }, 0);
    return server;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}

/** A renewal that would be held is left out, because nobody wants to decide on it every few minutes. */
async function renewUpstream(gateway: GatewayContext, visit: McpVisit, uri: string): Promise<void> {
  const server = serverOf(gateway, visit, uri);
  const entry = server === undefined ? undefined : gateway.catalog.get(mcpMethodId(server, 'resources/subscribe'));
  const policy = gateway.policies.of(visit.principal.tenant);
  if (entry && decideListing(policy, visit, entry).effect === 'allow') await subscribeUpstream(gateway, visit, uri);
}

/** Renews subscriptions until their listener has gone. Returns how to renew them at once. */
function keepRenewing(gateway: GatewayContext, visit: McpVisit, current: () => Promise<readonly string[]>) {
  const renewAll = async () => {
    for (const uri of await current()) await renewUpstream(gateway, visit, uri);
  };
  // A renewal that fails is repeated with the next one.
  const renew = () => void renewAll().catch(() => {});
  const timer = setInterval(renew, RENEW_MS);
  timer.unref();
  onGone(gateway, visit, () => clearInterval(timer));
  return renew;
}

function onGone({ stopping }: GatewayContext, { signal }: McpVisit, act: () => void): void {
  const gone = AbortSignal.any([signal, stopping]);
  if (gone.aborted) act();
  else gone.addEventListener('abort', act, { once: true });
}

/** A client of the newest protocol sends all its subscriptions in one request. Answers it with those that the caller may have. */
export async function subscribeAll(gateway: GatewayContext, visit: McpVisit, body: unknown): Promise<unknown> {
  if (!isObject(body) || body.method !== 'subscriptions/listen') return body;
  const { params } = body;
  if (!isObject(params) || !isObject(params.notifications)) return body;
  const { resourceSubscriptions } = params.notifications;
  if (!Array.isArray(resourceSubscriptions)) return body;
  const allowed: string[] = [];
  for (const uri of resourceSubscriptions) {
    if (allowed.length >= MAX_SUBSCRIPTIONS) break;
    const server = typeof uri === 'string' ? await subscribeUpstream(gateway, visit, uri) : undefined;
    if (typeof uri !== 'string' || server === undefined) continue;
    allowed.push(uri);
    onGone(gateway, visit, gateway.mcp_news.watch(server, uri));
  }
  if (allowed.length > 0) keepRenewing(gateway, visit, async () => allowed);
  return { ...body, params: { ...params, notifications: { ...params.notifications, resourceSubscriptions: allowed } } };
}

/**
 * Tells the stream of a session which of its resources change. The session may subscribe at any gateway while the stream is open,
 * so its row says what it has subscribed to.
 */
export function tellUpdates(gateway: GatewayContext, visit: McpVisit, tell: (uri: string) => Promise<void>): void {
  const { principal, session } = visit;
  if (!session) return;
  const current = async () => (await findMcpSession(gateway.store, principal, session.session_id))?.subscriptions ?? [];
  const tellChanged = async (topics: readonly string[]) => {
    for (const uri of await current()) {
      const server = serverOf(gateway, visit, uri);
      if (server !== undefined && topics.includes(mcpResourceTopic(server, uri))) await tell(uri);
    }
  };
  onGone(
    gateway,
    visit,
    gateway.mcp_news.onUpdated((topics) => void tellChanged(topics).catch(() => {})),
  );
  // The connection to the server may have ended while nobody listened.
  keepRenewing(gateway, visit, current)();
}

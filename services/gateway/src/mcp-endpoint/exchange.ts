import { isObject, type JsonObject, type Principal, type Toolset } from '@capstan/contracts';
import type { McpSession } from '@capstan/store/mcp-session';
import type { Notification, RequestId } from '@modelcontextprotocol/server';

/** The caller of one request to the endpoint. */
export type McpVisit = {
  principal: Principal;
  /** Of the 2025 protocol; null in the newest one, and for clients without a session. */
  session: McpSession | null;
  /** The toolset that the path names; null at /mcp itself. */
  toolset: Toolset | null;
  /** The URL of this gateway, for links. */
  base_url: string;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
};

/** The labels by which policy knows a toolset. */
export const toolsetLabels = (toolset: Toolset | null): Record<string, string> =>
  toolset ? { ...toolset.labels, 'mcp.toolset': toolset.name } : {};

/** One request of a client, and the ways to send it messages before the answer. */
export type Exchange = {
  visit: McpVisit;
  /** The protocol of 2026-07-28, which has no sessions and no requests to clients. */
  is_modern: boolean;
  id: RequestId;
  params: JsonObject;
  meta: JsonObject;
  /** The capabilities that the client declared. */
  capabilities: JsonObject;
  /** The minimum level of log messages to send; null: none. */
  log_level: string | null;
  /** Answers to the questions of an earlier round of the same call. */
  answers: Record<string, JsonObject>;
  request_state: string | undefined;
  notify(notification: Notification): Promise<void>;
  /** Sends a request to a client of the 2025 protocol. The answer arrives in a request of its own, at any gateway. */
  ask(id: string, method: string, params: JsonObject): Promise<void>;
};

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Session tools need an id: the one that the client names, else that of its MCP session, else one for its actor. */
export function sessionIdOf({ meta, visit: { principal, session } }: Exchange): string {
  const declared = meta['capstan/session_id'];
  if (typeof declared === 'string' && /^[\w.:@-]{1,128}$/.test(declared)) return declared;
  return session === null ? `mcp-${principal.actor}` : `mcp-${session.session_id}`;
}

/** True if the client declared a capability: `sampling`, `elicitation.url`, `extensions.io.modelcontextprotocol/tasks`. */
export const declares = ({ capabilities }: Exchange, ...path: string[]): boolean => {
  let at: unknown = capabilities;
  for (const name of path) at = isObject(at) ? at[name] : undefined;
  return isObject(at);
};

/** Forms are the older kind of question, so a client that names no kind takes them. */
export const takesForms = (exchange: Exchange): boolean =>
  declares(exchange, 'elicitation', 'form') ||
  (declares(exchange, 'elicitation') && !declares(exchange, 'elicitation', 'url'));

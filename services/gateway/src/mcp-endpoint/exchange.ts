import type { JsonObject, Principal, Toolset } from '@capstan/contracts';
import type { McpSession } from '@capstan/store';
import type { Notification, RequestId } from '@modelcontextprotocol/server';

/** Who is at the endpoint, for the length of one request. */
export type McpVisit = {
  principal: Principal;
  /** Of the 2025 protocol; null in the newest, and for clients that keep none. */
  session: McpSession | null;
  /** The choice of tools that the path names; null at /mcp itself. */
  toolset: Toolset | null;
  /** Where this gateway is reached, for links. */
  base_url: string;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
};

/** One request of a client, and the ways to speak to it before the answer. */
export type Exchange = {
  visit: McpVisit;
  /** The protocol of 2026-07-28, which has no sessions and no requests to clients. */
  is_modern: boolean;
  /** Whether the caller of a modern server declared the tasks extension. */
  id: RequestId;
  params: JsonObject;
  meta: JsonObject;
  /** What the client declared that it can do. */
  capabilities: JsonObject;
  /** The least severe log message that it wants; null: none. */
  log_level: string | null;
  /** Answers to what was asked in an earlier round of the same call. */
  answers: Record<string, JsonObject>;
  request_state: string | undefined;
  notify(notification: Notification): Promise<void>;
  /** Sends a request to a client of the 2025 protocol. Its answer comes in a request of its own, to any gateway. */
  ask(id: string, method: string, params: JsonObject): Promise<void>;
};

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Every session tool needs one: what the client names, its session, or whoever it is. */
export function sessionIdOf({ meta, visit: { principal, session } }: Exchange): string {
  const declared = meta['capstan/session_id'];
  if (typeof declared === 'string' && /^[\w.:@-]{1,128}$/.test(declared)) return declared;
  return session === null ? `mcp-${principal.actor}` : `mcp-${session.session_id}`;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `sampling`, `elicitation.url`, `extensions.io.modelcontextprotocol/tasks`: whether the client declared it. */
export const declares = ({ capabilities }: Exchange, ...path: string[]): boolean => {
  let at: unknown = capabilities;
  for (const name of path) at = isObject(at) ? at[name] : undefined;
  return isObject(at);
};

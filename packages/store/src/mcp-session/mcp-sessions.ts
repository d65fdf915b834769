import type { JsonObject, Principal } from '@capstan/contracts';
import { hashText } from '@capstan/integrity';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';

/** The client's description of itself when it opened a session of the 2025 protocol. */
export type McpSession = {
  session_id: string;
  protocol_version: string;
  capabilities: JsonObject;
  client_info: JsonObject;
  log_level: string | null;
  /** The URIs of resources that it has subscribed to. */
  subscriptions: string[];
};

type By = Pick<Principal, 'tenant' | 'actor'>;
type NewSession = Pick<McpSession, 'session_id' | 'protocol_version' | 'capabilities' | 'client_info'>;

export async function openMcpSession(store: Store, { tenant, actor }: By, session: NewSession): Promise<void> {
  const { session_id, protocol_version, capabilities, client_info } = session;
  await store.db
    .insertInto('mcp_sessions')
    .values({
      ...{ session_id, tenant, actor, protocol_version },
      capabilities: JSON.stringify(capabilities),
      client_info: JSON.stringify(client_info),
      log_level: null,
    })
    .execute();
}

/** A session of another owner is treated as unknown. Its last use is recorded at most once a minute. */
export async function findMcpSession(store: Store, by: By, session_id: string): Promise<McpSession | undefined> {
  const row = await store.db
    .selectFrom('mcp_sessions')
    .select(['session_id', 'protocol_version', 'capabilities', 'client_info', 'log_level', 'subscriptions'])
    .select(sql<boolean>`seen_at < now() - interval '1 minute'`.as('is_stale'))
    .where('session_id', '=', session_id)
    .where('tenant', '=', by.tenant)
    .where('actor', '=', by.actor)
    .executeTakeFirst();
  if (!row) return undefined;
  const { is_stale, ...session } = row;
  if (is_stale) await sql`UPDATE mcp_sessions SET seen_at = now() WHERE session_id = ${session_id}`.execute(store.db);
  return session;
}

export async function setMcpLogLevel(store: Store, session_id: string, log_level: string): Promise<void> {
  await store.db.updateTable('mcp_sessions').set({ log_level }).where('session_id', '=', session_id).execute();
}

/** In one statement, because a client may subscribe to many resources at once. */
export async function setMcpSubscription(
  store: Store,
  session_id: string,
  uri: string,
  wanted: boolean,
): Promise<void> {
  const added = wanted ? [uri] : [];
  await sql`UPDATE mcp_sessions SET subscriptions = array_remove(subscriptions, ${uri}) || ${added}::text[]
    WHERE session_id = ${session_id}`.execute(store.db);
}

export async function endMcpSession(store: Store, { tenant, actor }: By, session_id: string): Promise<boolean> {
  const { numDeletedRows } = await store.db
    .deleteFrom('mcp_sessions')
    .where('session_id', '=', session_id)
    .where('tenant', '=', tenant)
    .where('actor', '=', actor)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Clients often disconnect without ending their session. */
export async function deleteOldMcpSessions(store: Store, age_ms: number): Promise<void> {
  await sql`DELETE FROM mcp_sessions WHERE seen_at < now() - ${age_ms} * interval '1 millisecond'`.execute(store.db);
}

const UPDATED = 'mcp-updated:';

/** The signal topic for changes of a server's resource. */
export const mcpResourceTopic = (server: string, uri: string): string =>
  `${UPDATED}${hashText(JSON.stringify([server, uri])).replace('sha256:', '')}`;

export const isMcpResourceTopic = (topic: string): boolean => topic.startsWith(UPDATED);

import { isDeepStrictEqual } from 'node:util';
import type { Descriptor, McpListing, Principal, ToolChanges } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Statement, Store } from '../open-store.js';
import { replaceToolsIn } from '../tool/replace-tools.js';
import { pinTools } from './mcp-pins.js';

/** Marks a server for discovery: its tools may have changed, or it could not be reached. */
export async function markMcpServerStale(store: Store, name: string): Promise<boolean> {
  const marked = await store.db
    .updateTable('mcp_servers')
    .set((eb) => ({ stale: true, marked_at: eb.fn<string>('now') }))
    .where('name', '=', name)
    .where('enabled', '=', true)
    // A mark set before a running discovery began does not cover changes after it.
    .where((eb) =>
      eb.or([eb('stale', '=', false), eb('marked_at', 'is', null), eb('marked_at', '<', eb.ref('attempted_at'))]),
    )
    .returning('name')
    .executeTakeFirst();
  return marked !== undefined;
}

export type ClaimedDiscovery = { name: string; version: number };

/** The shortest interval for discovering a server again, whatever lifetime it declares for its lists. */
const MIN_TTL_MS = 300_000;

/** The delay doubles with each consecutive failure, so that a server that is gone is tried only four times an hour. */
const CLAIM: Statement = {
  name: 'claim-stale-mcp-servers',
  text: `UPDATE mcp_servers SET attempted_at = now()
    WHERE name = ANY (ARRAY(
      SELECT name FROM mcp_servers
      WHERE enabled AND (stale OR (config->>'url' IS NOT NULL AND listing->>'ttl_ms' IS NOT NULL
          AND discovered_at < now() - greatest((listing->>'ttl_ms')::float8, ${MIN_TTL_MS}) * interval '1 millisecond'))
        AND (attempted_at IS NULL
        OR attempted_at < now() - least($1::float8 * power(2, least(failures, 10)), 900000) * interval '1 millisecond')
      FOR UPDATE SKIP LOCKED))
    RETURNING name, version`,
};

/**
 * Claims servers that are due: stale ones, and those over HTTP whose lists have exceeded their declared lifetime. Each server is claimed by one
 * process only, and not again for `every_ms`.
 */
export const claimStaleMcpServers = (store: Store, every_ms: number): Promise<ClaimedDiscovery[]> =>
  store.query<ClaimedDiscovery>(CLAIM, [every_ms]);

/** Claims a single server on demand, whether it is due or not. */
export const claimMcpServer = (store: Store, name: string): Promise<ClaimedDiscovery | undefined> =>
  store.db
    .updateTable('mcp_servers')
    .set((eb) => ({ attempted_at: eb.fn<string>('now') }))
    .where('name', '=', name)
    .where('enabled', '=', true)
    .returning(['name', 'version'])
    .executeTakeFirst();

/** `methods`: its prompts and resources as tools. `pin`: changed tools keep their accepted description until somebody accepts the change. */
export type Discovered =
  | { descriptors: Descriptor[]; methods?: Descriptor[]; listing?: McpListing; pin?: boolean }
  | { error: string };

/** `lists`: true if its prompts or resources have changed. */
export type DiscoveryChanges = ToolChanges & { lists: boolean };

/**
 * Records the result of a discovery, unless the configuration of the server has changed since. If the discovery failed, the server keeps its tools,
 * because it may be available again at the next call. Null if nothing was recorded.
 */
export async function recordMcpDiscovery(
  store: Store,
  by: Pick<Principal, 'tenant' | 'actor'>,
  { name, version }: ClaimedDiscovery,
  found: Discovered,
): Promise<DiscoveryChanges | null> {
  const failed = 'error' in found;
  return store.db.transaction().execute(async (db) => {
    const before = await db
      .selectFrom('mcp_servers')
      .select('listing')
      .where('name', '=', name)
      .forUpdate()
      .executeTakeFirst();
    const row = await db
      .updateTable('mcp_servers')
      .set((eb) =>
        failed
          ? { error: found.error, failures: eb('failures', '+', 1), stale: true }
          : {
              ...{ error: null, failures: 0, tools: found.descriptors.length },
              stale: sql<boolean>`coalesce(marked_at > attempted_at, false)`,
              discovered_at: eb.fn<string>('now'),
              listing: found.listing ? JSON.stringify(found.listing) : null,
            },
      )
      .where('name', '=', name)
      .where('version', '=', version)
      .where('enabled', '=', true)
      .returning('name')
      .executeTakeFirst();
    if (!row) return null;
    if (failed) return { added: [], changed: [], removed: [], lists: false };
    const descriptors = await pinTools(db, by, name, found.descriptors, found.pin ?? true);
    const tools = [...descriptors, ...(found.methods ?? [])];
    const changes = await replaceToolsIn(db, by, { source: 'mcp', origin: name, descriptors: tools });
    return { ...changes, lists: !isDeepStrictEqual(before?.listing ?? null, found.listing ?? null) };
  });
}

import { isDeepStrictEqual } from 'node:util';
import type { Descriptor, McpListing, Principal, ToolChanges } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Statement, Store } from '../open-store.js';
import { replaceToolsIn } from '../tool/replace-tools.js';
import { pinTools } from './mcp-pins.js';

/** Its tools may have changed, or it could not be reached: it is to be looked at again. */
export async function markMcpServerStale(store: Store, name: string): Promise<boolean> {
  const marked = await store.db
    .updateTable('mcp_servers')
    .set((eb) => ({ stale: true, marked_at: eb.fn<string>('now') }))
    .where('name', '=', name)
    .where('enabled', '=', true)
    // What was said before a look that is still under way says nothing of what that look saw.
    .where((eb) =>
      eb.or([eb('stale', '=', false), eb('marked_at', 'is', null), eb('marked_at', '<', eb.ref('attempted_at'))]),
    )
    .returning('name')
    .executeTakeFirst();
  return marked !== undefined;
}

export type ClaimedDiscovery = { name: string; version: number };

/** Doubles with every failure in a row, so that a server that is gone for good is asked four times an hour. */
const CLAIM: Statement = {
  name: 'claim-stale-mcp-servers',
  text: `UPDATE mcp_servers SET attempted_at = now()
    WHERE name = ANY (ARRAY(
      SELECT name FROM mcp_servers
      WHERE enabled AND stale AND (attempted_at IS NULL
        OR attempted_at < now() - least($1::float8 * power(2, least(failures, 10)), 900000) * interval '1 millisecond')
      FOR UPDATE SKIP LOCKED))
    RETURNING name, version`,
};

/** Stale servers whose turn it is. Each goes to one of all the processes that ask, and to none again for `every_ms`. */
export const claimStaleMcpServers = (store: Store, every_ms: number): Promise<ClaimedDiscovery[]> =>
  store.query<ClaimedDiscovery>(CLAIM, [every_ms]);

/** The same on demand, for one server and whenever it is asked for. */
export const claimMcpServer = (store: Store, name: string): Promise<ClaimedDiscovery | undefined> =>
  store.db
    .updateTable('mcp_servers')
    .set((eb) => ({ attempted_at: eb.fn<string>('now') }))
    .where('name', '=', name)
    .where('enabled', '=', true)
    .returning(['name', 'version'])
    .executeTakeFirst();

/** `methods`: its prompts and resources as tools. `pin`: what its tools were is what they stay until somebody has looked. */
export type Discovered =
  | { descriptors: Descriptor[]; methods?: Descriptor[]; listing?: McpListing; pin?: boolean }
  | { error: string };

/** `lists`: its prompts or resources are others than before. */
export type DiscoveryChanges = ToolChanges & { lists: boolean };

/**
 * What a look at a server found, unless its configuration has changed since. A server that fails keeps the tools it had:
 * it may be back at the next call. Null when nothing was recorded.
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
    const { descriptors, disabled } = await pinTools(db, by, name, found.descriptors, found.pin ?? true);
    const tools = [...descriptors, ...(found.methods ?? [])];
    const changes = await replaceToolsIn(db, by, { source: 'mcp', origin: name, descriptors: tools, disabled });
    return { ...changes, lists: !isDeepStrictEqual(before?.listing ?? null, found.listing ?? null) };
  });
}

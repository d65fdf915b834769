import { isDeepStrictEqual } from 'node:util';
import type { McpListing, NewMcpServer, Principal } from '@capstan/contracts';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { replaceToolsIn } from '../tool/replace-tools.js';
import { unpinTools } from './mcp-pins.js';

type By = Pick<Principal, 'tenant' | 'actor'>;

const columns = [
  'name',
  'config',
  'enabled',
  'version',
  'stale',
  'tools',
  'failures',
  'error',
  'discovered_at',
  'created_at',
  'updated_at',
  'listing',
] as const;

/** A server with its full configuration, including secrets. For workers only; never returned by the API. */
export type McpServerRow = {
  name: string;
  config: NewMcpServer;
  enabled: boolean;
  version: number;
  stale: boolean;
  tools: number;
  failures: number;
  error: string | null;
  discovered_at: string | null;
  created_at: string;
  updated_at: string;
  /** Null before the first discovery. */
  listing: McpListing | null;
};

export const listMcpServers = (db: Db): Promise<McpServerRow[]> =>
  db.selectFrom('mcp_servers').select(columns).orderBy('name').execute();

export const getMcpServer = (db: Db, name: string): Promise<McpServerRow | undefined> =>
  db.selectFrom('mcp_servers').select(columns).where('name', '=', name).executeTakeFirst();

/** Undefined if the name is taken. */
export async function addMcpServer(store: Store, by: By, config: NewMcpServer): Promise<McpServerRow | undefined> {
  return store.db.transaction().execute(async (db) => {
    const row = await db
      .insertInto('mcp_servers')
      .values({
        name: config.name,
        config: JSON.stringify(config),
        enabled: config.enabled ?? true,
        created_by: by.actor,
      })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .returning(columns)
      .executeTakeFirst();
    if (row) await audit(db, by, 'mcp_server.add', config);
    return row;
  });
}

/** Discards what is known of the state of the server. Its tools stay until the next discovery, unless it is disabled. */
export async function changeMcpServer(store: Store, by: By, config: NewMcpServer): Promise<McpServerRow | undefined> {
  const enabled = config.enabled ?? true;
  return store.db.transaction().execute(async (db) => {
    const before = await db
      .selectFrom('mcp_servers')
      .select('config')
      .where('name', '=', config.name)
      .forUpdate()
      .executeTakeFirst();
    if (before && before.config.url !== config.url) await forgetLogins(db, config.name);
    const row = await db
      .updateTable('mcp_servers')
      .set((eb) => ({
        config: JSON.stringify(config),
        enabled,
        version: eb('version', '+', 1),
        stale: true,
        failures: 0,
        error: null,
        attempted_at: null,
        updated_at: eb.fn<string>('now'),
        ...(enabled ? {} : { tools: 0 }),
      }))
      .where('name', '=', config.name)
      .returning(columns)
      .executeTakeFirst();
    if (!row) return undefined;
    if (!enabled) await removeTools(db, by, config.name);
    if (before && !isSameServer(before.config, config)) await unpinTools(db, config.name);
    await audit(db, by, 'mcp_server.change', config);
    return row;
  });
}

/**
 * An operator who names another program or address, or trusts a server differently, accepts its tools as they then are. Anything
 * else, such as a server that is disabled for a while, must not accept what has changed meanwhile.
 */
const isSameServer = (before: NewMcpServer, after: NewMcpServer): boolean =>
  isDeepStrictEqual(identityOf(before), identityOf(after));
const identityOf = ({ command, args, url, trust }: NewMcpServer) => ({ command, args, url, trust });

export async function removeMcpServer(store: Store, by: By, name: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const row = await db.deleteFrom('mcp_servers').where('name', '=', name).returning('config').executeTakeFirst();
    if (!row) return false;
    await removeTools(db, by, name);
    await unpinTools(db, name);
    await forgetLogins(db, name);
    await audit(db, by, 'mcp_server.remove', row.config);
    return true;
  });
}

/** Tokens are for one address. Another one under the same name would get those of everybody who has logged in. */
async function forgetLogins(db: Db, name: string): Promise<void> {
  await db.deleteFrom('mcp_credentials').where('server', '=', name).execute();
  await db.deleteFrom('mcp_logins').where('server', '=', name).execute();
}

const removeTools = (db: Db, by: By, name: string) =>
  replaceToolsIn(db, by, { source: 'mcp', origin: name, descriptors: [] });

/** Many people can read the audit, so it contains no values of variables and headers. */
const audit = (db: Db, { tenant, actor }: By, event: string, config: NewMcpServer) =>
  appendAudit(db, [
    {
      ...{ tenant, actor, event, subject: config.name },
      detail: {
        ...(config.url === undefined
          ? { command: config.command ?? '', args: config.args ?? [] }
          : { url: withoutQuery(config.url) }),
        variables: Object.keys({ ...config.env, ...config.headers }),
        enabled: config.enabled ?? true,
      },
    },
  ]);

const withoutQuery = (url: string) => url.split('?', 1)[0] ?? '';

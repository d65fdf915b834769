import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import type { SecretKeys } from '../secret/secret-keys.js';

/** The owner of credentials for a server: a tenant, or one person of it. */
export type CredentialPlace = { server: string; tenant: string; owner: string };

/** The owner of credentials that the whole tenant uses. */
export const SHARED_OWNER = '';

/** A sealed value can only be opened for its own server, tenant and owner. */
const sealedAt = ({ server, tenant, owner }: CredentialPlace) => ({
  tenant,
  name: JSON.stringify(['mcp', server, owner]),
});

const selectSealed = (db: Db, { server, tenant, owner }: CredentialPlace) =>
  db
    .selectFrom('mcp_credentials')
    .select(['key_id', 'sealed'])
    .where('server', '=', server)
    .where('tenant', '=', tenant)
    .where('owner', '=', owner);

/** The client registration and tokens for a server, as JSON, encrypted at rest. */
export async function readMcpCredentials(db: Db, keys: SecretKeys, place: CredentialPlace): Promise<string | null> {
  const row = await selectSealed(db, place).executeTakeFirst();
  return row ? keys.open(sealedAt(place), row) : null;
}

export async function putMcpCredentials(
  db: Db,
  keys: SecretKeys,
  place: CredentialPlace,
  value: string,
): Promise<void> {
  const sealed = keys.seal(sealedAt(place), value);
  await db
    .insertInto('mcp_credentials')
    .values({ ...place, ...sealed })
    .onConflict((conflict) =>
      conflict.columns(['server', 'tenant', 'owner']).doUpdateSet({ ...sealed, updated_at: sql<string>`now()` }),
    )
    .execute();
}

/** How long a change may take. An authorization server may be asked meanwhile. */
const CHANGE_MS = 30_000;

/** Changes credentials, one process at a time. `change` returns null to leave them as they are. */
export async function changeMcpCredentials(
  store: Store,
  keys: SecretKeys,
  place: CredentialPlace,
  change: (value: string | null) => Promise<string | null>,
): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    await sql`SELECT set_config('idle_in_transaction_session_timeout', ${String(CHANGE_MS)}, true)`.execute(db);
    const row = await selectSealed(db, place).forUpdate().executeTakeFirst();
    const value = await change(row ? keys.open(sealedAt(place), row) : null);
    if (value === null) return;
    if (row) await putMcpCredentials(db, keys, place, value);
    // Nothing was there to lock, so a login may have come first.
    else
      await db
        .insertInto('mcp_credentials')
        .values({ ...place, ...keys.seal(sealedAt(place), value) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  });
}

export async function deleteMcpCredentials(
  store: Store,
  by: Pick<Principal, 'tenant' | 'actor'>,
  { server, tenant, owner }: CredentialPlace,
): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const deleted = await db
      .deleteFrom('mcp_credentials')
      .where('server', '=', server)
      .where('tenant', '=', tenant)
      .where('owner', '=', owner)
      .returning('server')
      .executeTakeFirst();
    if (!deleted) return false;
    await appendAudit(db, [{ ...by, event: 'mcp_server.logout', subject: server, detail: { owner } }]);
    return true;
  });
}

export type McpLogin = CredentialPlace & { actor: string; value: string };

/** Stores a login that waits for its browser. */
export async function openMcpLogin(db: Db, keys: SecretKeys, state: string, login: McpLogin): Promise<void> {
  const { value, ...row } = login;
  await db
    .insertInto('mcp_logins')
    .values({ state, ...row, ...keys.seal(sealedAt(login), value) })
    .execute();
}

const LOGIN_MS = 600_000;

/** Returns a login once, and only within ten minutes. */
export async function takeMcpLogin(db: Db, keys: SecretKeys, state: string): Promise<McpLogin | null> {
  await sql`DELETE FROM mcp_logins WHERE created_at < now() - ${LOGIN_MS} * interval '1 millisecond'`.execute(db);
  const row = await db.deleteFrom('mcp_logins').where('state', '=', state).returningAll().executeTakeFirst();
  if (!row) return null;
  const { server, tenant, owner, actor } = row;
  const place = { server, tenant, owner };
  return { ...place, actor, value: keys.open(sealedAt(place), row) };
}

/** Called in the transaction that rewraps secrets. Returns their number. */
export async function rewrapMcpCredentials(db: Db, keys: SecretKeys): Promise<number> {
  const rows = await db
    .selectFrom('mcp_credentials')
    .select(['server', 'tenant', 'owner', 'key_id', 'sealed'])
    .where('key_id', '<>', keys.key_id ?? '')
    .forUpdate()
    .execute();
  for (const row of rows) {
    const { server, tenant, owner } = row;
    const place = { server, tenant, owner };
    await putMcpCredentials(db, keys, place, keys.open(sealedAt(place), row));
  }
  return rows.length;
}

import type { ActiveLogin, Principal, Role } from '@capstan/contracts';
import { hashText } from '@capstan/integrity';
import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

export type NewLogin = { secret: string; expires_at: string };

/** As long as a key, and hashed in the same way. */
const newLoginSecret = (): string => `ses_${nanoid(32)}`;

/** Logs somebody in for `ttl_ms`, with the roles of their key as long as it exists, or with the roles of their token. */
export async function createLogin(store: Store, who: Principal, ttl_ms: number): Promise<NewLogin> {
  const secret = newLoginSecret();
  const { tenant, actor, roles, key_id, identity } = who;
  return store.db.transaction().execute(async (db) => {
    const { login_id, expires_at } = await db
      .insertInto('logins')
      .values({
        login_id: `lgn_${nanoid()}`,
        secret_hash: hashText(secret),
        ...(identity
          ? { key_id: null, tenant, actor, roles, ...identity }
          : { key_id, tenant: null, actor: null, roles: null, iss: null, sub: null }),
        expires_at: sql<string>`now() + ${ttl_ms} * interval '1 millisecond'`,
      })
      .returning(['login_id', 'expires_at'])
      .executeTakeFirstOrThrow();
    const detail = identity ? { ...identity, roles } : { key_id };
    await appendAudit(db, [{ tenant, actor, event: 'login.create', subject: login_id, detail }]);
    return { secret, expires_at };
  });
}

type Row = {
  key_id: string | null;
  tenant: string;
  actor: string;
  roles: Role[];
  pool: string | null;
  iss: string | null;
  sub: string | null;
  expires_at: string;
};

/** Undefined if it has expired or was ended, or if its key was deleted. */
export async function findLogin(db: Db, secret: string): Promise<Principal | undefined> {
  const { rows } = await sql<Row>`
    SELECT l.key_id, coalesce(k.tenant, l.tenant) AS tenant, coalesce(k.actor, l.actor) AS actor,
      coalesce(k.roles, l.roles) AS roles, k.pool, l.iss, l.sub, l.expires_at
    FROM logins l LEFT JOIN keys k ON k.key_id = l.key_id
    WHERE l.secret_hash = ${hashText(secret)} AND l.expires_at > now()`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const { iss, sub, key_id, ...who } = row;
  const identity = iss !== null && sub !== null ? { identity: { iss, sub } } : {};
  return { ...who, key_id: key_id ?? '', via: 'session', ...identity };
}

export async function endLogin(store: Store, by: Principal, secret: string): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    const ended = await db
      .deleteFrom('logins')
      .where('secret_hash', '=', hashText(secret))
      .returning('login_id')
      .executeTakeFirst();
    const { tenant, actor } = by;
    if (ended) await appendAudit(db, [{ tenant, actor, event: 'login.end', subject: ended.login_id }]);
  });
}

/** The logins of a tenant, or of all tenants with null; of an actor, or of all actors with null. */
export type LoginScope = { tenant: string | null; actor: string | null };

type ListedRow = Omit<ActiveLogin, 'identity' | 'current'> & { iss: string | null; sub: string | null; own: boolean };

/** Current logins, newest first. `secret` is that of the caller's own login, if there is one. */
export async function listLogins(
  db: Db,
  { tenant, actor }: LoginScope,
  secret: string | undefined,
): Promise<ActiveLogin[]> {
  const { rows } = await sql<ListedRow>`
    SELECT * FROM (
      SELECT l.login_id, coalesce(k.tenant, l.tenant) AS tenant, coalesce(k.actor, l.actor) AS actor,
        coalesce(k.roles, l.roles) AS roles, l.key_id, l.iss, l.sub, l.created_at, l.expires_at,
        l.secret_hash = ${secret === undefined ? '' : hashText(secret)} AS own
      FROM logins l LEFT JOIN keys k ON k.key_id = l.key_id WHERE l.expires_at > now()
    ) one
    WHERE (${tenant}::text IS NULL OR tenant = ${tenant}) AND (${actor}::text IS NULL OR actor = ${actor})
    ORDER BY created_at DESC`.execute(db);
  return rows.map(({ iss, sub, own, ...row }) => ({
    ...row,
    identity: iss !== null && sub !== null ? { iss, sub } : null,
    current: own,
  }));
}

/** Ends a login by its id. */
export async function revokeLogin(
  store: Store,
  by: Principal,
  login_id: string,
  { tenant, actor }: LoginScope,
): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<{ tenant: string; actor: string }>`
      DELETE FROM logins l USING logins o LEFT JOIN keys k ON k.key_id = o.key_id
      WHERE l.login_id = ${login_id} AND o.login_id = l.login_id
        AND (${tenant}::text IS NULL OR coalesce(k.tenant, o.tenant) = ${tenant})
        AND (${actor}::text IS NULL OR coalesce(k.actor, o.actor) = ${actor})
      RETURNING coalesce(k.tenant, o.tenant) AS tenant, coalesce(k.actor, o.actor) AS actor`.execute(db);
    const [ended] = rows;
    if (!ended) return false;
    const detail = { of: ended.actor };
    await appendAudit(db, [
      { tenant: ended.tenant, actor: by.actor, event: 'login.revoke', subject: login_id, detail },
    ]);
    return true;
  });
}

export const deleteExpiredLogins = (db: Db) => sql`DELETE FROM logins WHERE expires_at < now()`.execute(db);

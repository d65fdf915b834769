import type { Key, NewKey, Principal, Role } from '@capstan/contracts';
import { hashText } from '@capstan/integrity';
import { nanoid } from 'nanoid';
import { appendAudit } from '../audit/append-audit.js';
import { revokeGrantsOf } from '../hold/grants.js';
import type { Db, Store } from '../open-store.js';
import { pauseSchedulesOf } from '../schedule/schedules.js';

/** Keys carry 190 bits of randomness, so a plain hash protects them; there is nothing to guess. */
export const newSecret = (): string => `cap_${nanoid(32)}`;

export async function createKey(store: Store, by: Principal, key: NewKey): Promise<Key & { key: string }> {
  const secret = newSecret();
  return store.db.transaction().execute(async (db) => {
    const row = await insertKey(db, key, secret);
    await appendAudit(db, [
      {
        tenant: key.tenant,
        actor: by.actor,
        event: 'key.create',
        subject: row.key_id,
        detail: { actor: key.actor, roles: key.roles, ...(key.pool === undefined ? {} : { pool: key.pool }) },
      },
    ]);
    return { ...row, key: secret };
  });
}

const insertKey = (db: Db, { tenant, actor, roles, pool }: NewKey, secret: string): Promise<Key> =>
  db
    .insertInto('keys')
    .values({
      key_id: `key_${nanoid()}`,
      key_hash: hashText(secret),
      tenant,
      actor,
      roles: [...new Set(roles)],
      pool: pool ?? null,
    })
    .returning(['key_id', 'tenant', 'actor', 'roles', 'pool', 'created_at'])
    .executeTakeFirstOrThrow();

/** Called when an installation starts: makes sure that `secret` is a key with these roles. */
export async function ensureKey(store: Store, key: NewKey, secret: string): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    const inserted = await db
      .insertInto('keys')
      .values({ key_id: `key_${nanoid()}`, key_hash: hashText(secret), pool: null, ...key })
      .onConflict((conflict) => conflict.column('key_hash').doNothing())
      .returning('key_id')
      .executeTakeFirst();
    if (inserted)
      await appendAudit(db, [{ tenant: key.tenant, actor: 'system', event: 'key.create', subject: inserted.key_id }]);
  });
}

export async function findPrincipal(db: Db, secret: string): Promise<Principal | undefined> {
  return db
    .selectFrom('keys')
    .select(['key_id', 'tenant', 'actor', 'roles', 'pool'])
    .where('key_hash', '=', hashText(secret))
    .executeTakeFirst();
}

/** `tenant: null` lists the keys of all tenants. */
export function listKeys(db: Db, tenant: string | null): Promise<Key[]> {
  let query = db
    .selectFrom('keys')
    .select(['key_id', 'tenant', 'actor', 'roles', 'pool', 'created_at'])
    .orderBy('created_at');
  if (tenant !== null) query = query.where('tenant', '=', tenant);
  return query.execute();
}

export async function deleteKey(store: Store, by: Principal, key_id: string, tenant: string | null): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    let query = db.selectFrom('keys').select(['tenant', 'actor']).where('key_id', '=', key_id).forUpdate();
    if (tenant !== null) query = query.where('tenant', '=', tenant);
    const deleted = await query.executeTakeFirst();
    if (!deleted) return false;
    await pauseSchedulesOf(db, key_id);
    await revokeGrantsOf(db, key_id);
    await db.deleteFrom('keys').where('key_id', '=', key_id).execute();
    await appendAudit(db, [
      {
        tenant: deleted.tenant,
        actor: by.actor,
        event: 'key.delete',
        subject: key_id,
        detail: { actor: deleted.actor },
      },
    ]);
    return true;
  });
}

export const ALL_ROLES: Role[] = ['submit', 'operate', 'audit', 'admin'];

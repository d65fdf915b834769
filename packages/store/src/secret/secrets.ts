import type { JsonObject, NewSecret, Principal, Secret } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import type { SecretKeys } from './secret-keys.js';

const SHOWN = ['name', 'tenant', 'key_id', 'tools', 'hosts', 'updated_by', 'created_at', 'updated_at'] as const;

type Place = { tenant: string; name: string };

/** Adds or replaces. */
export async function putSecret(
  store: Store,
  keys: SecretKeys,
  by: Principal,
  { tenant, name }: Place,
  { value, tools, hosts }: NewSecret,
): Promise<Secret> {
  const row = { tenant, name, ...keys.seal({ tenant, name }, value), updated_by: by.actor };
  const lists = { ...(tools === undefined ? {} : { tools }), ...(hosts === undefined ? {} : { hosts }) };
  return store.db.transaction().execute(async (db) => {
    const secret = await db
      .insertInto('secrets')
      .values({ ...row, tools: tools ?? null, hosts: hosts ?? null })
      .onConflict((conflict) =>
        conflict.columns(['tenant', 'name']).doUpdateSet({
          key_id: row.key_id,
          sealed: row.sealed,
          ...lists,
          updated_by: row.updated_by,
          updated_at: sql`now()`,
        }),
      )
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    await appendAudit(db, [{ tenant, actor: by.actor, event: 'secret.put', subject: name, detail: lists }]);
    return secret;
  });
}

export const listSecrets = (db: Db, tenant: string): Promise<Secret[]> =>
  db.selectFrom('secrets').select(SHOWN).where('tenant', '=', tenant).orderBy('name').execute();

export type OpenedSecret = Pick<Secret, 'tools' | 'hosts'> & { value: string };

/** Decrypts the value, only for the worker that runs a tool of this tenant. */
export async function openSecret(db: Db, keys: SecretKeys, { tenant, name }: Place): Promise<OpenedSecret | undefined> {
  const row = await db
    .selectFrom('secrets')
    .select(['key_id', 'sealed', 'tools', 'hosts'])
    .where('tenant', '=', tenant)
    .where('name', '=', name)
    .executeTakeFirst();
  return row && { value: keys.open({ tenant, name }, row), tools: row.tools, hosts: row.hosts };
}

export type SecretUsed = { tenant: string; actor: string; name: string; allowed: boolean; detail: JsonObject };

/** Records the name of the secret, its user and the purpose, never the value. */
export const auditSecretUse = (db: Db, { name, allowed, ...use }: SecretUsed): Promise<void> =>
  appendAudit(db, [{ ...use, event: allowed ? 'secret.use' : 'secret.refuse', subject: name }]);

export async function deleteSecret(store: Store, by: Principal, { tenant, name }: Place): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const deleted = await db
      .deleteFrom('secrets')
      .where('tenant', '=', tenant)
      .where('name', '=', name)
      .returning('name')
      .executeTakeFirst();
    if (!deleted) return false;
    await appendAudit(db, [{ tenant, actor: by.actor, event: 'secret.delete', subject: name }]);
    return true;
  });
}

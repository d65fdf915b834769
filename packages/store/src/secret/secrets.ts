import type { Principal, Secret } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import type { SecretKeys } from './secret-keys.js';

const SHOWN = ['name', 'tenant', 'key_id', 'updated_by', 'created_at', 'updated_at'] as const;

type Place = { tenant: string; name: string };

/** Adds or replaces. */
export async function putSecret(
  store: Store,
  keys: SecretKeys,
  by: Principal,
  { tenant, name }: Place,
  value: string,
): Promise<Secret> {
  const row = { tenant, name, ...keys.seal({ tenant, name }, value), updated_by: by.actor };
  return store.db.transaction().execute(async (db) => {
    const secret = await db
      .insertInto('secrets')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['tenant', 'name']).doUpdateSet({
          key_id: row.key_id,
          sealed: row.sealed,
          updated_by: row.updated_by,
          updated_at: sql`now()`,
        }),
      )
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    await appendAudit(db, [{ tenant, actor: by.actor, event: 'secret.put', subject: name }]);
    return secret;
  });
}

export const listSecrets = (db: Db, tenant: string): Promise<Secret[]> =>
  db.selectFrom('secrets').select(SHOWN).where('tenant', '=', tenant).orderBy('name').execute();

/** The value itself: for the worker that runs a tool of this tenant, and for nobody else. */
export async function openSecret(db: Db, keys: SecretKeys, { tenant, name }: Place): Promise<string | undefined> {
  const row = await db
    .selectFrom('secrets')
    .select(['key_id', 'sealed'])
    .where('tenant', '=', tenant)
    .where('name', '=', name)
    .executeTakeFirst();
  return row && keys.open({ tenant, name }, row);
}

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

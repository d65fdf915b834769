import type { NewRetention, Principal, Retention } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

const SHOWN = ['tenant', 'settings', 'updated_by', 'created_at', 'updated_at'] as const;
type Row = Omit<Retention, keyof NewRetention> & { settings: NewRetention };

const shown = ({ settings, ...row }: Row): Retention => ({ ...settings, ...row });

/** The settings of tenants that have their own. */
export const listRetentions = async (db: Db): Promise<Retention[]> =>
  (await db.selectFrom('retentions').select(SHOWN).orderBy('tenant').execute()).map(shown);

export async function getRetention(db: Db, tenant: string): Promise<Retention | undefined> {
  const row = await db.selectFrom('retentions').select(SHOWN).where('tenant', '=', tenant).executeTakeFirst();
  return row && shown(row);
}

/** Adds or replaces. */
export async function putRetention(
  store: Store,
  by: Principal,
  tenant: string,
  settings: NewRetention,
): Promise<Retention> {
  const row = { settings: JSON.stringify(settings), updated_by: by.actor };
  return store.db.transaction().execute(async (db) => {
    const put = await db
      .insertInto('retentions')
      .values({ tenant, ...row })
      .onConflict((conflict) => conflict.column('tenant').doUpdateSet({ ...row, updated_at: sql<string>`now()` }))
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    const detail = JSON.parse(row.settings);
    await appendAudit(db, [{ tenant: by.tenant, actor: by.actor, event: 'retention.put', subject: tenant, detail }]);
    return shown(put);
  });
}

/** Afterwards the installation's settings apply. */
export async function deleteRetention(store: Store, by: Principal, tenant: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const { numDeletedRows } = await db.deleteFrom('retentions').where('tenant', '=', tenant).executeTakeFirst();
    if (numDeletedRows === 0n) return false;
    await appendAudit(db, [{ tenant: by.tenant, actor: by.actor, event: 'retention.delete', subject: tenant }]);
    return true;
  });
}

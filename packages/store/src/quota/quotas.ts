import type { NewQuota, Principal, Quota } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

const SHOWN = ['scope', 'limits', 'on_exceed', 'updated_by', 'created_at', 'updated_at'] as const;

export const listQuotas = (db: Db): Promise<Quota[]> =>
  db.selectFrom('quotas').select(SHOWN).orderBy('scope').execute();

export const getQuota = (db: Db, scope: string): Promise<Quota | undefined> =>
  db.selectFrom('quotas').select(SHOWN).where('scope', '=', scope).executeTakeFirst();

/** Adds or replaces. */
export async function putQuota(
  store: Store,
  { tenant, actor }: Principal,
  scope: string,
  { on_exceed, ...limits }: NewQuota,
): Promise<Quota> {
  const row = { limits: JSON.stringify(limits), on_exceed, updated_by: actor };
  return store.db.transaction().execute(async (db) => {
    const quota = await db
      .insertInto('quotas')
      .values({ scope, ...row })
      .onConflict((conflict) => conflict.column('scope').doUpdateSet({ ...row, updated_at: sql<string>`now()` }))
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    await appendAudit(db, [
      { tenant, actor, event: 'quota.put', subject: scope, detail: { on_exceed, limits: JSON.parse(row.limits) } },
    ]);
    return quota;
  });
}

/** Calls that waited for it are promoted by the next sweep. */
export async function deleteQuota(store: Store, { tenant, actor }: Principal, scope: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const { numDeletedRows } = await db.deleteFrom('quotas').where('scope', '=', scope).executeTakeFirst();
    if (numDeletedRows === 0n) return false;
    await appendAudit(db, [{ tenant, actor, event: 'quota.delete', subject: scope }]);
    return true;
  });
}

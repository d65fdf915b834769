import type { NewToolset, Principal, Toolset } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

type Row = { config: NewToolset; created_at: string; updated_at: string };
const toToolset = ({ config, created_at, updated_at }: Row): Toolset => ({ ...config, created_at, updated_at });
const COLUMNS = ['config', 'created_at', 'updated_at'] as const;

/** Adds or replaces. */
export async function putToolset(store: Store, { tenant, actor }: Principal, toolset: NewToolset): Promise<Toolset> {
  const { name } = toolset;
  const config = JSON.stringify(toolset);
  return store.db.transaction().execute(async (db) => {
    const row = await db
      .insertInto('toolsets')
      .values({ tenant, name, config })
      .onConflict((conflict) =>
        conflict.columns(['tenant', 'name']).doUpdateSet({ config, updated_at: sql<string>`now()` }),
      )
      .returning(COLUMNS)
      .executeTakeFirstOrThrow();
    const { tools, servers, labels } = toolset;
    await appendAudit(db, [{ tenant, actor, event: 'toolset.put', subject: name, detail: { tools, servers, labels } }]);
    return toToolset(row);
  });
}

export const listToolsets = async (db: Db, tenant: string): Promise<Toolset[]> =>
  (await db.selectFrom('toolsets').select(COLUMNS).where('tenant', '=', tenant).orderBy('name').execute()).map(
    toToolset,
  );

export async function getToolset(db: Db, tenant: string, name: string): Promise<Toolset | undefined> {
  const row = await db
    .selectFrom('toolsets')
    .select(COLUMNS)
    .where('tenant', '=', tenant)
    .where('name', '=', name)
    .executeTakeFirst();
  return row && toToolset(row);
}

export async function deleteToolset(store: Store, { tenant, actor }: Principal, name: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const deleted = await db
      .deleteFrom('toolsets')
      .where('tenant', '=', tenant)
      .where('name', '=', name)
      .returning('name')
      .executeTakeFirst();
    if (!deleted) return false;
    await appendAudit(db, [{ tenant, actor, event: 'toolset.delete', subject: name }]);
    return true;
  });
}

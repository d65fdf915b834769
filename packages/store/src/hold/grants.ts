import type { Grant, NewGrant, Page, Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { type PageWanted, pageOf, withoutSeq } from '../page-of.js';

const SHOWN = [
  'grant_id',
  'kind',
  'actor',
  'roles',
  'tool_id',
  'plan_hash',
  'input_hash',
  'max_risk',
  'count',
  'used',
  'comment',
  'created_at',
  'expires_at',
  'revoked_at',
] as const;

/** A grant for a tool covers one call by default; a grant for a plan has no limit, because a plan may have any number of steps. */
const countOf = ({ kind, count }: NewGrant) => count ?? (kind === 'tool' ? 1 : null);

export async function insertGrant(store: Store, by: Principal, grant: NewGrant): Promise<Grant> {
  const { tenant, actor, roles, key_id } = by;
  const {
    kind,
    tool_id = null,
    plan_hash = null,
    input_hash = null,
    max_risk = null,
    comment = null,
    expires_in_ms,
  } = grant;
  const row = { kind, tool_id, plan_hash, input_hash, max_risk, count: countOf(grant), comment };
  return store.db.transaction().execute(async (db) => {
    const created = await db
      .insertInto('grants')
      .values({
        ...row,
        grant_id: `gnt_${nanoid()}`,
        tenant,
        actor,
        roles,
        key_id,
        expires_at: sql<string>`now() + ${expires_in_ms} * interval '1 millisecond'`,
      })
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    await appendAudit(db, [
      { tenant, actor, event: 'grant.create', subject: created.grant_id, detail: { ...row, expires_in_ms } },
    ]);
    return created;
  });
}

/** Newest first, including used-up and expired grants. */
export async function listGrants(db: Db, tenant: string, page: PageWanted): Promise<Page<Grant>> {
  let query = db
    .selectFrom('grants')
    .select([...SHOWN, 'seq'])
    .where('tenant', '=', tenant)
    .orderBy('seq', 'desc');
  if (page.cursor) query = query.where('seq', '<', page.cursor);
  const rows = await query.limit(page.limit + 1).execute();
  return pageOf(rows, page.limit, withoutSeq);
}

/** Holds that the grant has released stay released. */
export async function revokeGrant(store: Store, by: Principal, grant_id: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('grants')
      .set({ revoked_at: sql<string>`coalesce(revoked_at, now())` })
      .where('tenant', '=', by.tenant)
      .where('grant_id', '=', grant_id)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await appendAudit(db, [{ tenant: by.tenant, actor: by.actor, event: 'grant.revoke', subject: grant_id }]);
    return true;
  });
}

/** Revokes the grants given with a key, in the transaction that deletes the key. */
export async function revokeGrantsOf(db: Db, key_id: string): Promise<void> {
  await db
    .updateTable('grants')
    .set({ revoked_at: sql<string>`now()` })
    .where('key_id', '=', key_id)
    .where('revoked_at', 'is', null)
    .execute();
}

export const hasLiveGrants = async (db: Db, tenant: string): Promise<boolean> =>
  (await db
    .selectFrom('grants')
    .select('grant_id')
    .where('tenant', '=', tenant)
    .where(LIVE.$castTo<boolean>())
    .limit(1)
    .executeTakeFirst()) !== undefined;

const LIVE = sql`revoked_at IS NULL AND expires_at > now() AND (count IS NULL OR used < count)`;

/** Grants that may apply to this call, oldest first. */
export async function grantsFor(
  db: Db,
  call: { tenant: string; tool_id: string; input_hash: string; run_id: string | null },
): Promise<Grant[]> {
  return db
    .selectFrom('grants')
    .select(SHOWN)
    .where('tenant', '=', call.tenant)
    .where(LIVE.$castTo<boolean>())
    .where(
      sql<boolean>`(tool_id IS NULL OR tool_id = ${call.tool_id}) AND (input_hash IS NULL OR input_hash = ${call.input_hash})
        AND (kind = 'tool' OR plan_hash = (SELECT plan_hash FROM plan_runs WHERE run_id = ${call.run_id}))`,
    )
    .orderBy('seq')
    .execute();
}

/** Uses the grant once, in the transaction of the vote. False if it has been used up in the meantime. */
export async function takeGrant(db: Db, grant_id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('grants')
    .set({ used: sql<number>`used + 1` })
    .where('grant_id', '=', grant_id)
    .where(LIVE.$castTo<boolean>())
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Grants that have not been applied to earlier pending holds yet. */
export const newGrants = (db: Db, limit: number): Promise<{ grant_id: string; tenant: string }[]> =>
  db
    .selectFrom('grants')
    .select(['grant_id', 'tenant'])
    .where('applied', '=', sql.lit(false))
    .orderBy('seq')
    .limit(limit)
    .execute();

export async function markApplied(db: Db, grant_ids: string[]): Promise<void> {
  await db.updateTable('grants').set({ applied: true }).where('grant_id', 'in', grant_ids).execute();
}

type HoldName = { tenant: string; hold_id: string };

/** Oldest first. */
export async function pendingHolds(
  db: Db,
  tenants: string[],
  after: string,
  limit: number,
): Promise<(HoldName & { seq: string })[]> {
  const { rows } = await sql<HoldName & { seq: string }>`
    SELECT tenant, hold_id, seq FROM holds WHERE status = 'pending' AND tenant = ANY (${tenants}) AND seq > ${after}
    ORDER BY seq LIMIT ${limit}`.execute(db);
  return rows;
}

/** Pending holds that have not been announced yet. */
export const freshHolds = (db: Db, limit: number): Promise<HoldName[]> =>
  sql<HoldName>`SELECT tenant, hold_id FROM holds WHERE status = 'pending' AND announced_round < round ORDER BY seq LIMIT ${limit}`
    .execute(db)
    .then(({ rows }) => rows);

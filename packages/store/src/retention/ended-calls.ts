import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../open-store.js';
import { type Age, agesByTenant, type RetentionRule, youngest } from './retention-rule.js';
import { endedAfter, type Place, type Range, type Removal } from './walk.js';

/** A call that may be removed, with the `seq` of its result when it was found. */
export type Due = { invocation_id: string; tenant: string; seq: string };

/** What to remove from ended calls, and when. */
export type CallRemoval = {
  agesOf(rule: RetentionRule): Age[];
  /** SQL: whether there is something to remove from a result `e` and its invocation `i`. */
  isThere: RawBuilder<unknown>;
  /** SQL: whether it may be removed once it is old enough. If not, the walk comes back to it. */
  isFree: RawBuilder<unknown>;
  /** Removes calls that are already locked. */
  remove(db: Db, due: readonly Due[], rules: readonly RetentionRule[]): Promise<void>;
};

type Page = {
  rows: number;
  last: Place | null;
  /** Whether some of them are old enough. */
  has_old: boolean;
  pending: (Due & Place & { due: boolean })[] | null;
};

export const ofEndedCalls = (removal: CallRemoval): Removal => ({
  agesOf: removal.agesOf,
  async removeIn(db, rules, range) {
    const { rows, last, has_old, pending } = await look(db, removal, rules, range);
    const due = await lock(db, pending?.filter((call) => call.due).slice(0, range.limit) ?? []);
    if (due.length > 0) await removal.remove(db, due, rules);
    return {
      count: due.length,
      last,
      pending: pending?.find((call) => !call.due) ?? null,
      more: rows === range.limit && has_old,
    };
  },
});

async function look(
  db: Db,
  { agesOf, isThere, isFree }: CallRemoval,
  rules: readonly RetentionRule[],
  range: Range,
): Promise<Page> {
  const { own, others, owners } = agesByTenant(rules, agesOf);
  const source = range.after === null ? sql`r.xid IS NULL` : endedAfter({ xid: sql`r.xid`, seq: sql`r.seq` }, range);
  const { rows } = await sql<Page>`
    WITH page AS MATERIALIZED (
      SELECT r.invocation_id, r.xid, r.seq, r.status, r.finished_at, r.removed_at, r.success FROM results r WHERE ${source}
    ), aged AS MATERIALIZED (
      SELECT e.*, i.tenant, CASE WHEN i.tenant = ANY (${owners}::text[]) THEN own.ms ELSE others.ms END AS ms,
        ${isFree} AS is_free
      FROM page e JOIN invocations i ON i.invocation_id = e.invocation_id
        LEFT JOIN json_to_recordset(${JSON.stringify(own)}::json) AS own (tenant text, status text, ms float8)
          ON own.tenant = i.tenant AND own.status = e.status
        LEFT JOIN json_to_recordset(${JSON.stringify(others)}::json) AS others (status text, ms float8)
          ON others.status = e.status
      WHERE ${isThere}
    )
    SELECT (SELECT count(*)::int FROM page) AS rows,
      (SELECT json_build_object('xid', xid::text, 'seq', seq::text) FROM page ORDER BY xid DESC, seq DESC LIMIT 1) AS last,
      (SELECT coalesce(min(finished_at) < now() - ${youngest([...own, ...others])} * interval '1 millisecond', false)
        FROM page) AS has_old,
      (SELECT json_agg(json_build_object('invocation_id', invocation_id, 'tenant', tenant, 'xid', xid::text, 'seq', seq::text,
          'due', is_free AND finished_at < now() - ms * interval '1 millisecond') ORDER BY xid, seq)
        FROM aged WHERE ms IS NOT NULL) AS pending`.execute(db);
  const [page] = rows;
  if (!page) throw new Error('a look at what has ended answered no row');
  return page;
}

/** Locks the calls that no other process has locked and whose result is still the same. */
async function lock(db: Db, due: readonly Due[]): Promise<Due[]> {
  if (due.length === 0) return [];
  const { rows } = await sql<{ invocation_id: string }>`
    SELECT r.invocation_id FROM unnest(${due.map((row) => row.invocation_id)}::text[], ${due.map(({ seq }) => seq)}::bigint[])
        AS due (invocation_id, seq)
      JOIN results r ON r.invocation_id = due.invocation_id AND r.seq = due.seq
    FOR UPDATE OF r SKIP LOCKED`.execute(db);
  const locked = new Set(rows.map(({ invocation_id }) => invocation_id));
  return due.filter(({ invocation_id }) => locked.has(invocation_id));
}

/** The number of calls of each tenant. */
export function countByTenant(due: readonly Due[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { tenant } of due) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return counts;
}

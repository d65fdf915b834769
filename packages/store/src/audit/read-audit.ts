import type { AuditEntry, AuditFilter, Page } from '@capstan/contracts';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Store } from '../open-store.js';
import { type PageWanted, pageOf } from '../page-of.js';

const START = '9223372036854775807';

/** Newest first. */
export async function listAudit(
  db: Db,
  tenant: string,
  filter: AuditFilter,
  { limit, cursor }: PageWanted,
): Promise<Page<AuditEntry>> {
  const before = /^\d{1,18}$/.test(cursor ?? '') ? cursor : START;
  const { rows } = await sql<AuditEntry>`
    SELECT a.seq, a.at, a.tenant, a.actor, a.event, a.subject, a.detail, l.chain_hash
    FROM audit a LEFT JOIN audit_links l ON l.seq = a.seq
    WHERE a.tenant = ${tenant} AND a.seq < ${before} AND ${matching(tenant, filter)} ORDER BY a.seq DESC LIMIT ${limit + 1}`.execute(
    db,
  );
  return pageOf(rows, limit, (row) => row);
}

/** All events, oldest first, in pages. */
export async function* exportAudit(
  store: Pick<Store, 'db'>,
  tenant: string,
  filter: AuditFilter,
  batch = 1000,
): AsyncGenerator<AuditEntry[]> {
  let after = '0';
  while (true) {
    const { rows } = await sql<AuditEntry>`
      SELECT a.seq, a.at, a.tenant, a.actor, a.event, a.subject, a.detail, l.chain_hash
      FROM audit a LEFT JOIN audit_links l ON l.seq = a.seq
      WHERE a.tenant = ${tenant} AND a.seq > ${after} AND ${matching(tenant, filter)} ORDER BY a.seq LIMIT ${batch}`.execute(
      store.db,
    );
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.seq;
  }
}

function matching(tenant: string, { event, subject, actor, since, until }: AuditFilter): RawBuilder<unknown> {
  const all = [sql`true`];
  if (event?.endsWith('*')) all.push(sql`starts_with(a.event, ${event.slice(0, -1)})`);
  else if (event !== undefined) all.push(sql`a.event = ${event}`);
  if (subject !== undefined) all.push(sql`a.seq IN (${about(tenant, subject)})`);
  if (actor !== undefined) all.push(sql`a.actor = ${actor}`);
  if (since) all.push(sql`a.at >= ${since}`);
  if (until) all.push(sql`a.at < ${until}`);
  return sql.join(all, sql` AND `);
}

/** One event may cover many invocations that were submitted or ended together, so those events are found by their time. */
const about = (tenant: string, subject: string): RawBuilder<unknown> => sql`
  SELECT seq FROM audit WHERE tenant = ${tenant} AND subject = ${subject} AND event NOT IN ('invocation.submit', 'invocation.end')
  UNION ALL
  SELECT seq FROM audit
  WHERE at = ANY (ARRAY (SELECT DISTINCT unnest(ARRAY[created_at, finished_at]) FROM (
      SELECT i.created_at, r.finished_at FROM invocations i LEFT JOIN results r USING (invocation_id)
      WHERE i.invocation_id = ${subject} AND i.tenant = ${tenant}
      UNION ALL
      SELECT i.created_at, r.finished_at FROM invocations i LEFT JOIN results r USING (invocation_id)
      WHERE i.run_id = ${subject} AND i.tenant = ${tenant}) AS moments))
    AND tenant = ${tenant} AND event IN ('invocation.submit', 'invocation.end')
    AND (subject = ${subject} OR strpos(detail::text, to_json(${subject}::text)::text) > 0)`;

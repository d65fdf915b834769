import { sql } from 'kysely';
import { type AuditEvent, appendAudit } from '../audit/append-audit.js';
import { chainHash, findLogEntries } from '../merkle/find-log-entries.js';
import type { Db } from '../open-store.js';
import { COUNTS_TODAY, deleteCalls, deleteSeals, isLogged } from './delete-calls.js';
import { deleteLines } from './delete-lines.js';
import { agesByTenant, type RetentionRule, youngest } from './retention-rule.js';
import { endedAfter, type Place, type Range, RetentionWalk } from './walk.js';

/** A run may have 10,000 calls, so a page is as many runs as have about this many calls in all. */
const CALLS = 5000;

/** `seq` is null for a run from before the log existed. */
type LookedAt = { run_id: string; xid: string; seq: string; due: boolean };
type Page = { last: Place | null; has_more: boolean; has_old: boolean; pending: LookedAt[] | null };
type OldRun = { run_id: string; tenant: string; root: string | null; end_seq: string | null; total_steps: number };

/** Deletes old runs. A run is one record and is deleted as a whole, when the last of its calls may be removed. */
export const runsWalk = (): RetentionWalk =>
  new RetentionWalk({
    agesOf: ({ records }) => records,
    async removeIn(db, rules, range) {
      const { last, has_more, has_old, pending } = await look(db, rules, range);
      const runs = await lock(db, pending?.filter((run) => run.due) ?? []);
      return {
        count: runs.length === 0 ? 0 : await removeRuns(db, rules, runs),
        last,
        pending: pending?.find((run) => !run.due) ?? null,
        more: has_more && has_old,
      };
    },
  });

async function look(db: Db, rules: readonly RetentionRule[], range: Range): Promise<Page> {
  const { own, others, owners } = agesByTenant(rules, ({ records }) => records);
  const source =
    range.after === null
      ? sql`r.end_xid IS NULL AND r.finished_at IS NOT NULL
          AND r.run_id = ANY (ARRAY (SELECT run_id FROM seals WHERE voided_at IS NULL)) LIMIT ${range.limit}`
      : endedAfter({ xid: sql`r.end_xid`, seq: sql`r.end_seq` }, range);
  const { rows } = await sql<Page>`
    WITH own AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(own)}::json) AS own (tenant text, status text, ms float8)
    ), others AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(others)}::json) AS others (status text, ms float8)
    ), next AS MATERIALIZED (
      SELECT r.run_id, r.tenant, r.end_xid AS xid, r.end_seq AS seq, r.finished_at, r.total_steps FROM runs r WHERE ${source}
    ), page AS MATERIALIZED (
      SELECT *, CASE WHEN tenant = ANY (${owners}::text[])
        THEN (SELECT min(ms) FROM own WHERE own.tenant = n.tenant) ELSE (SELECT min(ms) FROM others) END AS youngest_ms
      FROM (SELECT *, sum(total_steps) OVER (ORDER BY xid, seq ROWS UNBOUNDED PRECEDING) - total_steps AS before FROM next) n
      WHERE before < ${CALLS}
    ), calls AS MATERIALIZED (
      SELECT run_id, bool_or(status IS NOT NULL AND ms IS NULL) AS is_kept,
        bool_and((finished_at < now() - ms * interval '1 millisecond') IS TRUE AND is_free) AS is_due
      FROM (
        SELECT p.run_id, e.status, e.finished_at, NOT ${COUNTS_TODAY} AND ${isLogged(sql`e.xid`, sql`e.seq`)} AS is_free,
          CASE WHEN p.tenant = ANY (${owners}::text[]) THEN own.ms ELSE others.ms END AS ms
        FROM page p JOIN invocations i ON i.run_id = p.run_id LEFT JOIN results e ON e.invocation_id = i.invocation_id
          LEFT JOIN own ON own.tenant = p.tenant AND own.status = e.status LEFT JOIN others ON others.status = e.status
      ) c GROUP BY run_id
    )
    SELECT (SELECT json_build_object('xid', xid::text, 'seq', seq::text) FROM page ORDER BY xid DESC, seq DESC LIMIT 1) AS last,
      (SELECT count(*) FROM next) = ${range.limit} OR (SELECT count(*) FROM page) < (SELECT count(*) FROM next) AS has_more,
      (SELECT coalesce(min(finished_at) < now() - ${youngest([...own, ...others])} * interval '1 millisecond', false)
        FROM page) AS has_old,
      (SELECT json_agg(json_build_object('run_id', p.run_id, 'xid', p.xid::text, 'seq', p.seq::text,
          'due', p.finished_at < now() - p.youngest_ms * interval '1 millisecond' AND coalesce(c.is_due, true)
            AND ${isLogged(sql`p.xid`, sql`p.seq`)}) ORDER BY p.xid, p.seq)
        FROM page p LEFT JOIN calls c ON c.run_id = p.run_id
        WHERE p.youngest_ms IS NOT NULL AND c.is_kept IS NOT TRUE) AS pending`.execute(db);
  const [page] = rows;
  if (!page) throw new Error('a look at runs that have ended answered no row');
  return page;
}

/** Locks the runs that no other process has locked and whose end is still the same. */
async function lock(db: Db, due: readonly LookedAt[]): Promise<OldRun[]> {
  if (due.length === 0) return [];
  const { rows } = await sql<OldRun>`
    SELECT r.run_id, r.tenant, r.total_steps, r.end_seq,
      (SELECT root FROM seals s WHERE s.run_id = r.run_id AND s.voided_at IS NULL) AS root
    FROM unnest(${due.map(({ run_id }) => run_id)}::text[], ${due.map(({ seq }) => seq)}::bigint[]) AS due (run_id, seq)
      JOIN runs r ON r.run_id = due.run_id AND r.end_seq IS NOT DISTINCT FROM due.seq AND r.finished_at IS NOT NULL
    FOR UPDATE OF r SKIP LOCKED`.execute(db);
  return rows;
}

async function removeRuns(db: Db, rules: readonly RetentionRule[], runs: readonly OldRun[]): Promise<number> {
  const run_ids = runs.map(({ run_id }) => run_id);
  const { rows: calls } = await sql<{ invocation_id: string; tenant: string }>`
    SELECT invocation_id, tenant FROM invocations WHERE run_id = ANY (${run_ids}) FOR UPDATE`.execute(db);
  await deleteLines(db, calls, rules);
  await deleteCalls(
    db,
    calls.map(({ invocation_id }) => invocation_id),
  );
  await deleteSeals(db, run_ids);
  for (const table of ['steps', 'plan_runs', 'runs'])
    await sql`DELETE FROM ${sql.table(table)} WHERE run_id = ANY (${run_ids})`.execute(db);
  await appendAudit(db, await removalsOf(db, runs));
  // A removed run without calls counts as progress too.
  return Math.max(calls.length, runs.length);
}

/** The audit keeps where the record of a run is in the log, or the root of its seal from before the log. */
async function removalsOf(db: Db, runs: readonly OldRun[]): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  for (const tenant of new Set(runs.map((run) => run.tenant))) {
    const own = runs.filter((run) => run.tenant === tenant);
    const entries = await findLogEntries(
      db,
      tenant,
      own.flatMap(({ end_seq }) => end_seq ?? []),
    );
    for (const { run_id, root, end_seq, total_steps } of own) {
      const entry = end_seq === null ? undefined : entries.get(end_seq);
      const logged = entry ? { log_index: entry.index, leaf_hash: chainHash(entry) } : { root };
      const detail = { ...logged, total_steps };
      events.push({ tenant, actor: 'system', event: 'retention.run', subject: run_id, detail });
    }
  }
  return events;
}

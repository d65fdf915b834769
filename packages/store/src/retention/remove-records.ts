import { type RawBuilder, sql } from 'kysely';
import { type AuditEvent, appendAudit } from '../audit/append-audit.js';
import { chainHash, findLogEntries } from '../merkle/find-log-entries.js';
import type { Db, Store } from '../open-store.js';
import { asTable, isOf, type RetentionRule, youngest } from './retention-rule.js';

/** A run may have 10,000 calls. */
const RUNS = 20;
/** What today's budgets are counted by stays until tomorrow. */
const COUNTS_TODAY = sql`EXISTS (
  SELECT FROM quota_uses u WHERE u.invocation_id = i.invocation_id AND u.taken_at >= date_trunc('day', now()))`;

/** What has no transaction was sealed before there was a log. Up to after_seq all came from another cluster, and is in the log. */
const isLogged = (xid: RawBuilder<unknown>, seq: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(${xid} IS NULL OR (SELECT ${seq} <= c.after_seq OR (${xid}, ${seq}) <= (c.xid, c.seq) FROM log_cursor c))`;

/**
 * Forgets calls that ended long ago, with all that hangs on them. A run is one record and goes as one, when the last of its calls
 * may go. What the log has of them stays: hashes alone. Nothing goes before it is in the log. Answers how many calls.
 */
export async function removeRecords(store: Store, rule: RetentionRule, limit: number): Promise<number> {
  if (rule.records.length === 0) return 0;
  const lone = await store.db.transaction().execute((db) => removeLone(db, rule, limit));
  const runs = await store.db.transaction().execute((db) => removeRuns(db, rule));
  return lone + runs;
}

async function removeLone(db: Db, { tenants, records }: RetentionRule, limit: number): Promise<number> {
  const { rows } = await sql<{ invocation_id: string; tenant: string }>`
    SELECT i.invocation_id, i.tenant FROM invocations i JOIN results r ON r.invocation_id = i.invocation_id
      JOIN ${asTable(records)} ON age.status = r.status
    WHERE i.created_at < now() - ${youngest(records)} * interval '1 millisecond' AND ${isOf(tenants, sql`i.tenant`)}
      AND r.finished_at < now() - age.ms * interval '1 millisecond' AND i.run_id IS NULL AND NOT ${COUNTS_TODAY}
      AND ${isLogged(sql`r.xid`, sql`r.seq`)}
    LIMIT ${limit} FOR UPDATE OF r SKIP LOCKED`.execute(db);
  const ids = rows.map(({ invocation_id }) => invocation_id);
  await deleteCalls(db, ids);
  await deleteSeals(
    db,
    ids.map((id) => id.replace(/^inv_/, 'run_')),
  );
  const counts = new Map<string, number>();
  for (const { tenant } of rows) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  await appendAudit(
    db,
    [...counts].map(([tenant, count]) => ({
      ...{ tenant, actor: 'system', event: 'retention.records', subject: tenant, detail: { count } },
    })),
  );
  return ids.length;
}

async function removeRuns(db: Db, { tenants, records }: RetentionRule): Promise<number> {
  const { rows: runs } = await sql<OldRun>`
    SELECT r.run_id, r.tenant, r.total_steps, r.end_seq,
      (SELECT root FROM seals s WHERE s.run_id = r.run_id AND s.voided_at IS NULL) AS root
    FROM runs r
    WHERE r.finished_at < now() - ${youngest(records)} * interval '1 millisecond' AND ${isOf(tenants, sql`r.tenant`)}
      AND NOT EXISTS (
        SELECT FROM invocations i LEFT JOIN results e ON e.invocation_id = i.invocation_id
          LEFT JOIN ${asTable(records)} ON age.status = e.status
        WHERE i.run_id = r.run_id
          AND ((e.finished_at < now() - age.ms * interval '1 millisecond') IS NOT TRUE OR ${COUNTS_TODAY}
            OR NOT ${isLogged(sql`e.xid`, sql`e.seq`)}))
      AND ${isLogged(sql`r.end_xid`, sql`r.end_seq`)}
    LIMIT ${RUNS} FOR UPDATE OF r SKIP LOCKED`.execute(db);
  if (runs.length === 0) return 0;
  const run_ids = runs.map(({ run_id }) => run_id);
  const { rows: calls } = await sql<{ invocation_id: string }>`
    SELECT invocation_id FROM invocations WHERE run_id = ANY (${run_ids}) FOR UPDATE`.execute(db);
  await deleteCalls(
    db,
    calls.map(({ invocation_id }) => invocation_id),
  );
  await deleteSeals(db, run_ids);
  for (const table of ['steps', 'plan_runs', 'runs'])
    await sql`DELETE FROM ${sql.table(table)} WHERE run_id = ANY (${run_ids})`.execute(db);
  await appendAudit(db, await Promise.all(runs.map((run) => removal(db, run))));
  // A run without calls is work done, too.
  return Math.max(calls.length, runs.length);
}

type OldRun = { run_id: string; tenant: string; root: string | null; end_seq: string | null; total_steps: number };

/** The audit keeps where the record of a run is in the log, or the root of its seal from before the log. */
async function removal(db: Db, { run_id, tenant, root, end_seq, total_steps }: OldRun): Promise<AuditEvent> {
  const entry = end_seq === null ? undefined : (await findLogEntries(db, tenant, [end_seq])).get(end_seq);
  const logged = entry ? { log_index: entry.index, leaf_hash: chainHash(entry) } : { root };
  return { tenant, actor: 'system', event: 'retention.run', subject: run_id, detail: { ...logged, total_steps } };
}

async function deleteCalls(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    DELETE FROM hold_entries e USING holds h WHERE h.invocation_id = ANY (${ids}) AND e.hold_id = h.hold_id`.execute(
    db,
  );
  for (const table of ['logs', 'attempts', 'artifact_names', 'holds', 'checkpoints', 'results', 'invocations'])
    await sql`DELETE FROM ${sql.table(table)} WHERE invocation_id = ANY (${ids})`.execute(db);
}

async function deleteSeals(db: Db, run_ids: readonly string[]): Promise<void> {
  for (const table of ['seal_links', 'seals', 'log_superseded'])
    await sql`DELETE FROM ${sql.table(table)} WHERE run_id = ANY (${run_ids})`.execute(db);
}

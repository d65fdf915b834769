import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Store } from '../open-store.js';
import { asTable, isOf, type RetentionRule, youngest } from './retention-rule.js';

/**
 * Forgets what calls that ended long ago gave: payloads, logs, and the names of their artifacts, whose contents go once nothing
 * names them. The hash of each payload stays, and with it the record that was sealed. What a run that goes on may still read
 * stays as long as it does. Answers how many.
 */
export async function removeResults(store: Store, { tenants, results }: RetentionRule, limit: number): Promise<number> {
  if (results.length === 0) return 0;
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<{ tenant: string; count: number }>`
      WITH old AS (
        SELECT i.invocation_id, i.tenant FROM invocations i
          JOIN results r ON r.invocation_id = i.invocation_id JOIN ${asTable(results)} ON age.status = r.status
        WHERE i.created_at < now() - ${youngest(results)} * interval '1 millisecond' AND ${isOf(tenants, sql`i.tenant`)}
          AND r.finished_at < now() - age.ms * interval '1 millisecond' AND r.removed_at IS NULL AND r.success IS NOT NULL
          AND NOT EXISTS (SELECT FROM runs WHERE runs.run_id = i.run_id AND runs.finished_at IS NULL)
        LIMIT ${limit} FOR UPDATE OF r SKIP LOCKED
      ), emptied AS (
        UPDATE results r SET payload = NULL, removed_at = now() FROM old WHERE r.invocation_id = old.invocation_id
      ), l AS (DELETE FROM logs USING old WHERE logs.invocation_id = old.invocation_id),
      n AS (DELETE FROM artifact_names n USING old WHERE n.invocation_id = old.invocation_id)
      SELECT tenant, count(*)::int AS count FROM old GROUP BY tenant`.execute(db);
    await appendAudit(
      db,
      rows.map(({ tenant, count }) => ({
        ...{ tenant, actor: 'system', event: 'retention.results', subject: tenant, detail: { count } },
      })),
    );
    return rows.reduce((sum, { count }) => sum + count, 0);
  });
}

/** Whether some of what a run's calls gave is gone. */
export async function hasRemovedResults({ db }: Store, run_id: string): Promise<boolean> {
  const { rows } = await sql<{ removed: boolean }>`
    SELECT EXISTS (SELECT FROM invocations i JOIN results r ON r.invocation_id = i.invocation_id
      WHERE i.run_id = ${run_id} AND r.removed_at IS NOT NULL) AS removed`.execute(db);
  return rows[0]?.removed === true;
}

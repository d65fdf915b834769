import { TERMINAL_STATUSES } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';

/** Runs that have ended and are not sealed. */
export async function findUnsealedRuns(store: Store, limit: number): Promise<string[]> {
  const { rows } = await sql<{ run_id: string }>`
    SELECT run_id FROM runs WHERE NOT sealed AND live_steps = 0 AND finished_at IS NOT NULL
    ORDER BY seq LIMIT ${limit}`.execute(store.db);
  return rows.map(({ run_id }) => run_id);
}

/**
 * Walks over each tenant's lone invocations in the order of submission and notes them as pending; what has ended of those
 * is answered, to be sealed. Only what is a minute old is looked at: no statement takes longer, so nothing becomes visible
 * behind the cursor, and a burst of work is over before its sealing begins.
 */
export async function findUnsealedLone(store: Store, limit: number, settle_ms = 60_000): Promise<string[]> {
  await store.db.transaction().execute(async (db) => {
    const { rows: tenants } = await sql<{ tenant: string; seq: string }>`
      WITH RECURSIVE t AS (
        (SELECT tenant FROM invocations ORDER BY tenant LIMIT 1)
        UNION ALL
        SELECT (SELECT tenant FROM invocations i WHERE i.tenant > t.tenant ORDER BY tenant LIMIT 1) FROM t WHERE t.tenant IS NOT NULL
      )
      SELECT t.tenant, coalesce(c.seq, 0) AS seq FROM t LEFT JOIN seal_cursors c ON c.tenant = t.tenant
      WHERE t.tenant IS NOT NULL`.execute(db);
    for (const { tenant, seq } of tenants)
      await sql`
        WITH next AS (
          SELECT seq, invocation_id, run_id, created_at < now() - ${settle_ms} * interval '1 millisecond' AS old
          FROM invocations WHERE tenant = ${tenant} AND seq > ${seq} ORDER BY seq LIMIT ${limit}
        ), seen AS (
          -- Up to the first that is too young: one that is older may have come after it.
          SELECT * FROM next WHERE seq < coalesce((SELECT min(seq) FROM next WHERE NOT old), seq + 1)
        ), noted AS (
          INSERT INTO seal_pending (invocation_id) SELECT invocation_id FROM seen WHERE run_id IS NULL ON CONFLICT DO NOTHING
        )
        INSERT INTO seal_cursors (tenant, seq) SELECT ${tenant}, max(seq) FROM seen HAVING max(seq) IS NOT NULL
        ON CONFLICT (tenant) DO UPDATE SET seq = greatest(seal_cursors.seq, excluded.seq)`.execute(db);
  });
  // What has not ended is looked at again in a minute.
  const { rows } = await sql<{ invocation_id: string; ended: boolean }>`
    WITH due AS (
      SELECT invocation_id FROM seal_pending WHERE due_at <= now() ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), later AS (
      UPDATE seal_pending p SET due_at = now() + interval '1 minute' FROM due WHERE p.invocation_id = due.invocation_id
    )
    SELECT due.invocation_id, coalesce(i.status = ANY (${TERMINAL_STATUSES}), true) AS ended
    FROM due LEFT JOIN invocations i ON i.invocation_id = due.invocation_id`.execute(store.db);
  return rows.flatMap(({ invocation_id, ended }) => (ended ? [invocation_id] : []));
}

export async function forgetPending(store: Store, invocation_ids: readonly string[]): Promise<void> {
  if (invocation_ids.length === 0) return;
  await sql`DELETE FROM seal_pending WHERE invocation_id = ANY (${invocation_ids})`.execute(store.db);
}

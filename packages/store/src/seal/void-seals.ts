import { loneRunId, type Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db } from '../open-store.js';

type Moved = { invocation_id: string; run_id: string | null };

/**
 * Called after a change to sealed rows, in the same transaction. The seal stays on record with the reason, and the rows it covered go into the log.
 */
export async function voidSeals(
  db: Db,
  by: Pick<Principal, 'actor'>,
  moved: readonly Moved[],
  reason: string,
): Promise<void> {
  const of = [...new Set(moved.map(({ invocation_id, run_id }) => run_id ?? loneRunId(invocation_id)))];
  const { rows: voided } = await sql<{ run_id: string; tenant: string; root: string }>`
    UPDATE seals SET voided_at = now(), void_reason = ${reason} WHERE run_id = ANY (${of}) AND voided_at IS NULL
    RETURNING run_id, tenant, root`.execute(db);
  if (voided.length === 0) return;
  await appendAudit(
    db,
    voided.map(({ run_id, tenant, root }) => ({
      ...{ tenant, actor: by.actor, event: 'run.unseal', subject: run_id, detail: { root, reason } },
    })),
  );
  const runs = voided.map(({ run_id }) => run_id);
  await sql`DELETE FROM seal_links WHERE run_id = ANY (${runs})`.execute(db);
  await sql`
    UPDATE results SET chain_hash = NULL, xid = pg_current_xact_id(), seq = DEFAULT
    WHERE xid IS NULL AND invocation_id = ANY (ARRAY (
      SELECT invocation_id FROM invocations WHERE run_id = ANY (${runs})
      UNION ALL SELECT 'inv_' || substr(run_id, 5) FROM unnest(${runs}::text[]) AS run_id))`.execute(db);
}

import { loneRunId, type Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db } from '../open-store.js';
import { lockSeals } from './lock-seals.js';

type Moved = { invocation_id: string; run_id: string | null };

/**
 * In the transaction that changes what was sealed, after the change. The seal stays on record with the reason; the run is
 * sealed again once it has ended.
 */
export async function voidSeals(
  db: Db,
  by: Pick<Principal, 'actor'>,
  moved: readonly Moved[],
  reason: string,
): Promise<void> {
  if (moved.length === 0) return;
  const lone = moved.flatMap(({ invocation_id, run_id }) => (run_id === null ? [invocation_id] : []));
  const runs = moved.flatMap(({ run_id }) => run_id ?? []);
  const all = [...new Set([...runs, ...lone.map(loneRunId)])];
  await lockSeals(db, all);
  const { rows: voided } = await sql<{ run_id: string; tenant: string; root: string }>`
    UPDATE seals SET voided_at = now(), void_reason = ${reason} WHERE run_id = ANY (${all}) AND voided_at IS NULL
    RETURNING run_id, tenant, root`.execute(db);
  const grouped = new Set(runs);
  await appendAudit(
    db,
    voided
      .filter(({ run_id }) => grouped.has(run_id))
      .map(({ run_id, tenant, root }) => ({
        tenant,
        actor: by.actor,
        event: 'run.unseal',
        subject: run_id,
        detail: { root, reason },
      })),
  );
  await sql`DELETE FROM seal_links WHERE run_id = ANY (${all})`.execute(db);
  await sql`UPDATE runs SET sealed = false WHERE run_id = ANY (${runs}) AND sealed`.execute(db);
  await sql`UPDATE results r SET chain_hash = NULL FROM invocations i
    WHERE i.run_id = ANY (${runs}) AND r.invocation_id = i.invocation_id AND r.chain_hash IS NOT NULL`.execute(db);
  await sql`UPDATE results SET chain_hash = NULL WHERE invocation_id = ANY (${lone}) AND chain_hash IS NOT NULL`.execute(
    db,
  );
  await sql`INSERT INTO seal_pending (invocation_id) SELECT unnest(${lone}::text[]) ON CONFLICT DO NOTHING`.execute(db);
}

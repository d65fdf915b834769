import type { BoundHashes } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import { policyInForce } from './policy-in-force.js';
import { endLiveQuestion } from './questions.js';

/** `none`: the call was never held. `stale`: the approval does not match what would run; `why` gives the reason. */
export type ApprovalUse = { kind: 'valid' } | { kind: 'none' } | { kind: 'stale'; why: string; expires_in_ms: number };

type Row = {
  tenant: string;
  run_id: string | null;
  status: string;
  approved_input_hash: string | null;
  approved_descriptor_hash: string | null;
  approved_policy_hash: string | null;
  is_over: boolean;
  spent: boolean;
  expires_in_ms: number;
};

/**
 * Called right before the run by the worker that holds the receipt, so nobody else can use the approval of this invocation.
 * `about_to_run` has the hashes of what the worker will actually run, not those stored in the row.
 */
export async function useApproval(
  store: Store,
  invocation_id: string,
  about_to_run: BoundHashes,
): Promise<ApprovalUse> {
  return store.db.transaction().execute(async (db) => {
    await endLiveQuestion(db, invocation_id);
    const { rows } = await sql<Row>`
      SELECT h.tenant, i.run_id, h.status, h.approved_input_hash, h.approved_descriptor_hash, h.approved_policy_hash,
        coalesce(h.approval_expires_at <= now(), false) AS is_over, h.spent, h.expires_in_ms::float8 AS expires_in_ms
      FROM holds h JOIN invocations i ON i.invocation_id = h.invocation_id
      WHERE h.invocation_id = ${invocation_id} FOR UPDATE OF h`.execute(db);
    const [hold] = rows;
    if (hold?.status !== 'released' && hold?.status !== 'withdrawn') return { kind: 'none' };
    const in_force = await policyInForce(db, hold);
    const why = whyStale(hold, about_to_run, in_force?.policy_hash);
    if (why) return { kind: 'stale', why, expires_in_ms: hold.expires_in_ms };
    await sql`UPDATE holds SET used_at = coalesce(used_at, now()) WHERE invocation_id = ${invocation_id}`.execute(db);
    return { kind: 'valid' };
  });
}

function whyStale(hold: Row, about_to_run: BoundHashes, in_force: string | undefined): string | null {
  // The tool withdrew a question. No approval was needed before it, or it would have been restored.
  if (hold.status === 'withdrawn') return 'the policy asks for an agreement now';
  if (hold.spent) return 'it was released for a run that has ended: another run needs another release';
  if (hold.is_over) return 'the release expired before the run';
  if (hold.approved_input_hash !== about_to_run.input_hash) return 'the inputs are not those that were released';
  if (hold.approved_descriptor_hash !== about_to_run.descriptor_hash) return 'the tool has changed since the release';
  if (hold.approved_policy_hash !== about_to_run.policy_hash || hold.approved_policy_hash !== in_force)
    return 'the policy has changed since the release';
  return null;
}

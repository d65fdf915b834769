import type { EffectivePolicy } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { type InForce, tenantPolicyInForce } from '../policy/effective-policy.js';

/**
 * The policy by which a release is decided, and with which it is compared right before the run: the one submitted with the run, else
 * the tenant's own, else `default`, in its current version; the installation's policy applies on top.
 */
export async function policyInForce(
  db: Db,
  { tenant, run_id }: { tenant: string; run_id: string | null },
): Promise<InForce | undefined> {
  const { rows } = await sql<{ policy_hash: string; document: EffectivePolicy }>`
    SELECT p.policy_hash, p.document FROM plan_runs r JOIN policies p ON p.name = 'run:' || r.policy_hash
    WHERE r.run_id = ${run_id} AND r.own_policy`.execute(db);
  return rows[0] ?? tenantPolicyInForce(db, tenant);
}

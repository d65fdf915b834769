import type { EffectivePolicy } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { type InForce, tenantPolicyInForce } from '../policy/effective-policy.js';

/**
 * What a release is decided by, and what it is compared with right before the run: the policy that the run brought with it, else
 * the tenant's own, else `default`, each in the version of this moment, under the installation's.
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

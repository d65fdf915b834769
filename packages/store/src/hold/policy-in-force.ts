import { DEFAULT_TENANT, type PolicyDocument } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/**
 * What a release is decided by, and what it is compared with right before the run: the policy that the run brought with it, else
 * the tenant's own, else `default`, each in the version of this moment.
 */
export async function policyInForce(
  db: Db,
  { tenant, run_id }: { tenant: string; run_id: string | null },
): Promise<{ policy_hash: string; document: PolicyDocument } | undefined> {
  const { rows } = await sql<{ policy_hash: string; document: PolicyDocument }>`
    SELECT policy_hash, document FROM (
      SELECT 0 AS rank, p.policy_hash, p.document FROM plan_runs r JOIN policies p ON p.name = 'run:' || r.policy_hash
      WHERE r.run_id = ${run_id} AND r.own_policy
      UNION ALL (SELECT 1, policy_hash, document FROM policies WHERE name = ${tenant} ORDER BY version DESC LIMIT 1)
      UNION ALL (SELECT 2, policy_hash, document FROM policies WHERE name = ${DEFAULT_TENANT} ORDER BY version DESC LIMIT 1)
    ) AS found ORDER BY rank LIMIT 1`.execute(db);
  return rows[0];
}

import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import { type Db, tenantPolicyInForce } from '@capstan/store';
import type { Kept } from '../kept.js';

/** The policy in force for a tenant, under that of the installation. */
export async function tenantPolicy(db: Db, kept: Kept<CompiledPolicy>, tenant: string): Promise<CompiledPolicy | null> {
  const in_force = await tenantPolicyInForce(db, tenant);
  return in_force ? kept.get(in_force.policy_hash, async () => compilePolicy(in_force.document)) : null;
}

import { DEFAULT_TENANT } from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import { type Db, latestPolicy } from '@capstan/store';
import type { Kept } from '../kept.js';

/** The policy in force for a tenant: the one named after it, else `default`. */
export async function tenantPolicy(db: Db, kept: Kept<CompiledPolicy>, tenant: string): Promise<CompiledPolicy | null> {
  const policy = (await latestPolicy(db, tenant)) ?? (await latestPolicy(db, DEFAULT_TENANT));
  return policy ? kept.get(policy.policy_hash, async () => compilePolicy(policy.document)) : null;
}

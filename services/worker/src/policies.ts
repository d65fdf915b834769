import { Failure } from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import { policyByHash, type Store } from '@capstan/store';

/** Policies by their hash, compiled once each. A version never changes, so what is cached stays true. */
export type Policies = {
  cached(policy_hash: string): CompiledPolicy | undefined;
  load(policy_hash: string): Promise<CompiledPolicy>;
};

/** A run may bring a policy of its own, so there is no end to them. */
const MAX_KEPT = 500;

export function createPolicies(store: Store): Policies {
  const compiled = new Map<string, CompiledPolicy>();
  return {
    cached: (policy_hash) => compiled.get(policy_hash),
    load: async (policy_hash) => {
      const policy = await policyByHash(store.db, policy_hash);
      if (!policy)
        throw new Failure('POLICY_CHANGED', { detail: `No policy has the hash ${policy_hash}.`, retryable: false });
      const ready = compilePolicy(policy.document);
      const [oldest] = compiled.size >= MAX_KEPT ? compiled.keys() : [];
      if (oldest !== undefined) compiled.delete(oldest);
      compiled.set(policy_hash, ready);
      return ready;
    },
  };
}

import { DEFAULT_TENANT, Failure } from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import type { Relay } from '@capstan/queue';
import { latestPolicies, type Store } from '@capstan/store';

/** The policy in force for each tenant: the one named after it, else `default`. Compiled once per version. */
export type TenantPolicies = { of(tenant: string): CompiledPolicy; refresh(): Promise<void> };

const REFRESH_MS = 10_000;

export async function createTenantPolicies(store: Store, relay: Relay): Promise<TenantPolicies> {
  let policies = new Map<string, CompiledPolicy>();
  let started = 0;
  let applied = 0;
  const refresh = async () => {
    started += 1;
    const mine = started;
    const known = new Map([...policies.values()].map((policy) => [policy.policy_hash, policy]));
    const latest = await latestPolicies(store.db);
    // A slow look must not bring back what a later one has seen replaced.
    if (mine < applied) return;
    applied = mine;
    policies = new Map(
      latest.map(({ name, policy_hash, document }) => [name, known.get(policy_hash) ?? compilePolicy(document)]),
    );
  };
  const refreshSoon = () => void refresh().catch(() => {});
  relay.subscribe('refresh', (what) => what.includes('policies') && refreshSoon(), refreshSoon);
  await refresh();
  // For signals that were lost.
  setInterval(refreshSoon, REFRESH_MS).unref();
  return {
    refresh,
    of: (tenant) => {
      const policy = policies.get(tenant) ?? policies.get(DEFAULT_TENANT);
      if (!policy) throw new Failure('POLICY_DENIED', { detail: 'No policy is installed, so nothing is allowed.' });
      return policy;
    },
  };
}

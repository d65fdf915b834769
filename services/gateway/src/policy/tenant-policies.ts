import {
  CLOSED_INSTALLATION,
  DEFAULT_TENANT,
  Failure,
  INSTALLATION_POLICY,
  type PolicyDocument,
} from '@capstan/contracts';
import { type CompiledPolicy, PolicyCache } from '@capstan/policy';
import type { Relay } from '@capstan/queue';
import type { Store } from '@capstan/store';
import { boundBy, keepEffective, latestPolicies } from '@capstan/store/policy';

/** The policy in force for each tenant: the one named after it, else `default`, under that of the installation. */
export type TenantPolicies = {
  of(tenant: string): CompiledPolicy;
  /** Any version, such as the one that a run brought. */
  compiled: PolicyCache['of'];
  /** The installation's policy, which applies on top of all others. */
  installation(): PolicyDocument;
  refresh(): Promise<void>;
};

/** Stored and compiled once for each pair of versions. */
type InForce = { version: string; policy: CompiledPolicy };

const REFRESH_MS = 60_000;

export async function createTenantPolicies(store: Store, relay: Relay): Promise<TenantPolicies> {
  const cache = PolicyCache.asStored();
  let policies = new Map<string, InForce>();
  let installation = CLOSED_INSTALLATION;
  let started = 0;
  let applied = 0;
  const refresh = async () => {
    started += 1;
    const mine = started;
    const known = new Map([...policies.values()].map((policy) => [policy.version, policy]));
    const latest = await latestPolicies(store.db);
    const ceiling = latest.find(({ name }) => name === INSTALLATION_POLICY);
    const next = new Map<string, InForce>();
    for (const { name, policy_hash, document } of latest) {
      const version = `${policy_hash} ${ceiling?.policy_hash}`;
      const bound = known.get(version) ?? (await compile(document, ceiling?.document));
      next.set(name, { ...bound, version });
    }
    // A slow refresh must not overwrite the result of a later one.
    if (mine < applied) return;
    applied = mine;
    policies = next;
    installation = ceiling?.document ?? CLOSED_INSTALLATION;
  };
  /** Stored before it decides anything, so that workers can load it for their own decision. */
  const compile = async (document: PolicyDocument, ceiling = CLOSED_INSTALLATION) => {
    const in_force = await keepEffective(store.db, boundBy(document, ceiling));
    return { policy: cache.of(in_force) };
  };
  const refreshSoon = () => void refresh().catch(() => {});
  relay.subscribe('refresh', (what) => what.includes('policies') && refreshSoon(), refreshSoon);
  await refresh();
  // Covers lost signals.
  setInterval(refreshSoon, REFRESH_MS).unref();
  return {
    refresh,
    compiled: (version) => cache.of(version),
    installation: () => installation,
    of: (tenant) => {
      const { policy } = policies.get(tenant) ?? policies.get(DEFAULT_TENANT) ?? {};
      if (!policy) throw new Failure('POLICY_DENIED', { detail: 'No policy is installed, so nothing is allowed.' });
      return policy;
    },
  };
}

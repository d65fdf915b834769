import {
  CLOSED_INSTALLATION,
  DEFAULT_TENANT,
  Failure,
  INSTALLATION_POLICY,
  type PolicyDocument,
} from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import type { Relay } from '@capstan/queue';
import { boundBy, keepEffective, latestPolicies, type Store } from '@capstan/store';

/** The policy in force for each tenant: the one named after it, else `default`, under that of the installation. */
export type TenantPolicies = {
  of(tenant: string): CompiledPolicy;
  /** What bounds all of them. */
  installation(): PolicyDocument;
  refresh(): Promise<void>;
};

/** Compiled once for each version of the two. */
type InForce = { version: string; policy: CompiledPolicy };

const REFRESH_MS = 60_000;

export async function createTenantPolicies(store: Store, relay: Relay): Promise<TenantPolicies> {
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
    // A slow look must not bring back what a later one has seen replaced.
    if (mine < applied) return;
    applied = mine;
    policies = next;
    installation = ceiling?.document ?? CLOSED_INSTALLATION;
  };
  /** Kept before it decides anything, so that whoever decides again finds it. */
  const compile = async (document: PolicyDocument, ceiling = CLOSED_INSTALLATION) => {
    const in_force = await keepEffective(store.db, boundBy(document, ceiling));
    return { policy: compilePolicy(in_force.document) };
  };
  const refreshSoon = () => void refresh().catch(() => {});
  relay.subscribe('refresh', (what) => what.includes('policies') && refreshSoon(), refreshSoon);
  await refresh();
  // For signals that were lost.
  setInterval(refreshSoon, REFRESH_MS).unref();
  return {
    refresh,
    installation: () => installation,
    of: (tenant) => {
      const { policy } = policies.get(tenant) ?? policies.get(DEFAULT_TENANT) ?? {};
      if (!policy) throw new Failure('POLICY_DENIED', { detail: 'No policy is installed, so nothing is allowed.' });
      return policy;
    },
  };
}

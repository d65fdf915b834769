import { keepFresh } from '@capstan/backbone';
import { type EffectivePolicy, Failure, INTERNAL_POLICY, type PolicyDocument } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { type CompiledPolicy, compilePolicy, PolicyCache, stricterDecision } from '@capstan/policy';
import type { Relay } from '@capstan/queue';
import type { Store } from '@capstan/store';
import { installationPolicy, policyByHash, type StoredPolicy } from '@capstan/store/policy';

/**
 * Policies by hash. The installation's current policy also applies, so that a call admitted before it became stricter cannot bypass
 * it.
 */
export type Policies = {
  cached(policy_hash: string): Pick<CompiledPolicy, 'decide'> | undefined;
  load(policy_hash: string): Promise<Pick<CompiledPolicy, 'decide'>>;
  /** Reads the installation's policy again. */
  refresh(): Promise<void>;
  close(): void;
};

const FRESH = { signals: ['policies'], every_ms: 10_000 };

type Ceiling = { document: PolicyDocument; hash: string };

export async function createPolicies(store: Store, relay: Relay): Promise<Policies> {
  let ceiling: Ceiling | null = null;
  let started = 0;
  let applied = 0;
  const refresh = async () => {
    started += 1;
    const mine = started;
    const document = await installationPolicy(store.db);
    // A slow refresh must not overwrite the result of a later one.
    if (mine < applied) return;
    applied = mine;
    const hash = hashJson(document);
    if (hash !== ceiling?.hash) ceiling = { document, hash };
  };
  const close = await keepFresh(relay, FRESH, refresh);
  const cache = new PolicyCache(({ name, document }: StoredPolicy) =>
    name === INTERNAL_POLICY ? compilePolicy(document) : underNow(document, () => ceiling),
  );
  return {
    refresh,
    close,
    cached: (policy_hash) => cache.get(policy_hash),
    load: async (policy_hash) => {
      const policy = await policyByHash(store.db, policy_hash);
      if (!policy)
        throw new Failure('POLICY_CHANGED', { detail: `No policy has the hash ${policy_hash}.`, retryable: false });
      return cache.of(policy);
    },
  };
}

function underNow(document: EffectivePolicy, ceiling: () => Ceiling | null): Pick<CompiledPolicy, 'decide'> {
  const admitted = compilePolicy(document);
  const admitted_under = document.installation ? hashJson(document.installation) : null;
  let today: { under: Ceiling; policy: CompiledPolicy } | null = null;
  return {
    decide: (request) => {
      const then = admitted.decide(request);
      const now = ceiling();
      if (now === null || now.hash === admitted_under) return then;
      if (today?.under !== now)
        today = { under: now, policy: compilePolicy({ ...document, installation: now.document }) };
      return stricterDecision(then, today.policy.decide(request), request.descriptor);
    },
  };
}

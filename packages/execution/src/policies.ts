import { keepFresh } from '@capstan/backbone';
import { type EffectivePolicy, Failure, INTERNAL_POLICY, type PolicyDocument } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { type CompiledPolicy, compilePolicy, stricterDecision } from '@capstan/policy';
import type { Relay } from '@capstan/queue';
import { installationPolicy, policyByHash, type Store } from '@capstan/store';

/**
 * Policies by their hash, compiled once each. A version never changes, so what is cached stays true. The installation's policy of
 * now bounds them as well: a call that was admitted before it was made stricter does not get around it, however late it runs.
 */
export type Policies = {
  cached(policy_hash: string): Pick<CompiledPolicy, 'decide'> | undefined;
  load(policy_hash: string): Promise<Pick<CompiledPolicy, 'decide'>>;
  close(): void;
};

/** A run may bring a policy of its own, so there is no end to them. */
const MAX_KEPT = 500;
const FRESH = { signals: ['policies'], every_ms: 10_000 };

type Ceiling = { document: PolicyDocument; hash: string };

export async function createPolicies(store: Store, relay: Relay): Promise<Policies> {
  const compiled = new Map<string, Pick<CompiledPolicy, 'decide'>>();
  let ceiling: Ceiling | null = null;
  const close = await keepFresh(relay, FRESH, async () => {
    const document = await installationPolicy(store.db);
    const hash = hashJson(document);
    if (hash !== ceiling?.hash) ceiling = { document, hash };
  });
  return {
    close,
    cached: (policy_hash) => compiled.get(policy_hash),
    load: async (policy_hash) => {
      const policy = await policyByHash(store.db, policy_hash);
      if (!policy)
        throw new Failure('POLICY_CHANGED', { detail: `No policy has the hash ${policy_hash}.`, retryable: false });
      const ready =
        policy.name === INTERNAL_POLICY ? compilePolicy(policy.document) : underNow(policy.document, () => ceiling);
      const [oldest] = compiled.size >= MAX_KEPT ? compiled.keys() : [];
      if (oldest !== undefined) compiled.delete(oldest);
      compiled.set(policy_hash, ready);
      return ready;
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

import type { EffectivePolicy } from '@capstan/contracts';
import { LRUCache } from 'lru-cache';
import { compilePolicy } from './compile-policy.js';
import type { CompiledPolicy } from './request.js';

/** Runs may bring their own policies, so their number is unbounded. */
const MAX_POLICIES = 500;

type PolicyVersion = { policy_hash: string; document: EffectivePolicy };

/** Compiled policies by hash. A version never changes, so no entry becomes stale. Workers pass their own `compile`. */
export class PolicyCache<Version extends PolicyVersion = PolicyVersion, Compiled extends object = CompiledPolicy> {
  readonly #compiled = new LRUCache<string, Compiled>({ max: MAX_POLICIES });
  readonly #compile: (version: Version) => Compiled;

  constructor(compile: (version: Version) => Compiled) {
    this.#compile = compile;
  }

  /** The usual cache: compiled as stored. */
  static asStored(): PolicyCache {
    return new PolicyCache(({ document }: PolicyVersion) => compilePolicy(document));
  }

  get(policy_hash: string): Compiled | undefined {
    return this.#compiled.get(policy_hash);
  }

  of(version: Version): Compiled {
    const compiled = this.#compiled.get(version.policy_hash) ?? this.#compile(version);
    this.#compiled.set(version.policy_hash, compiled);
    return compiled;
  }
}

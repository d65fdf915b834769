import type { Decision, Descriptor, RuleLook } from '@capstan/contracts';

/**
 * Equal decisions about a tool are one object, so that batches of calls can tell by comparing references that they share one and
 * write its text once.
 */
export function createSharing(): (descriptor: Descriptor, decision: Decision) => Decision {
  const last = new WeakMap<Descriptor, Decision>();
  return (descriptor, decision) => {
    const known = last.get(descriptor);
    if (known && areEqual(known, decision)) return known;
    last.set(descriptor, decision);
    return decision;
  };
}

/** May return false for equal decisions if a deep comparison would be needed. Both must come from the same policy. */
const areEqual = (one: Decision, other: Decision): boolean =>
  one.effect === other.effect &&
  one.reason === other.reason &&
  one.rule_matched === other.rule_matched &&
  one.code === other.code &&
  one.decided_by === other.decided_by &&
  one.limits === other.limits &&
  one.lowered === other.lowered &&
  one.approvals === other.approvals &&
  areAlike(one.rules, other.rules);

const areAlike = (some: RuleLook[] = [], others: RuleLook[] = []): boolean =>
  some.length === others.length &&
  some.every(({ id, why, of }, at) => id === others[at]?.id && why === others[at]?.why && of === others[at]?.of);

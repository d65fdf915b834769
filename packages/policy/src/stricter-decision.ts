import type { Decision, Descriptor } from '@capstan/contracts';
import { lower } from './lower-limits.js';

const STRENGTH = { allow: 0, hold: 1, deny: 2 } as const;

/** Combines the decision at admission with one made now: the one that allows less wins, with the stricter of all limits. */
export function stricterDecision(then: Decision, now: Decision, descriptor: Descriptor): Decision {
  const { policy_hash } = then;
  const limits = lower(then.limits, now.limits, descriptor);
  return STRENGTH[now.effect] > STRENGTH[then.effect] ? { ...now, limits, policy_hash } : { ...then, limits };
}

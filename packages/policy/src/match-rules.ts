import type { PolicyRule, RuleLook } from '@capstan/contracts';
import { type CompiledRule, matchesNow } from './compile-rule.js';
import { acceptsRisk } from './gates.js';
import type { Request } from './request.js';

/** The rules that match a call, by effect. */
export type Matched = {
  forbid: PolicyRule | null;
  allow: PolicyRule | null;
  /** True if a rule that allows the call has also accepted its risk. */
  accepted: boolean;
  holds: PolicyRule[];
  /** The rules and gates that an allow rule accepts, each with the id of that rule; null if no rule accepts any. */
  accepts: Map<string, string> | null;
  broken: { id: string; error: string } | null;
  looks: RuleLook[];
};

export function matchRules(candidates: readonly CompiledRule[], request: Request): Matched {
  const matched: Matched = {
    forbid: null,
    allow: null,
    accepted: false,
    holds: [],
    accepts: null,
    broken: null,
    looks: [],
  };
  for (const candidate of candidates) {
    const match = matchesNow(candidate, request);
    if (match === false) continue;
    const { rule, reason } = candidate;
    if (match !== true) {
      matched.broken ??= { id: rule.id, error: match.error };
      continue;
    }
    matched.looks.push({ id: rule.id, matched: true, why: reason });
    if (rule.effect === 'forbid') matched.forbid ??= rule;
    else if (rule.effect === 'hold') matched.holds.push(rule);
    else {
      matched.allow ??= rule;
      matched.accepted ||= acceptsRisk(rule, request.descriptor);
      if (rule.accepts) {
        matched.accepts ??= new Map();
        for (const id of rule.accepts) matched.accepts.set(id, rule.id);
      }
    }
  }
  return matched.accepts ? withoutAccepted(matched, matched.accepts) : matched;
}

/** A hold that a matching allow rule accepts does not hold the call. The decision mentions it. */
function withoutAccepted(matched: Matched, accepts: ReadonlyMap<string, string>): Matched {
  const accepted = new Set(matched.holds.filter(({ id }) => accepts.has(id)).map(({ id }) => id));
  return {
    ...matched,
    holds: matched.holds.filter(({ id }) => !accepted.has(id)),
    looks: matched.looks.map((look) =>
      accepted.has(look.id) ? { ...look, why: `${look.why}; accepted by ${accepts.get(look.id)}` } : look,
    ),
  };
}

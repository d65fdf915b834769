import type { Decision } from '@capstan/contracts';

/**
 * Whether votes stay valid after an edit of the inputs: the same rules hold the call and ask for the same people, or it would now be
 * allowed without a hold. If a policy sets a limit (an amount, a recipient), an edit that crosses it needs new votes. With
 * `revote_on_edit`, every edit does.
 */
export function asksTheSame(before: Decision, after: Decision): boolean {
  if ((after.approvals ?? before.approvals)?.revote_on_edit) return false;
  return after.effect === 'allow' || askedFor(before) === askedFor(after);
}

const askedFor = ({ rule_matched, approvals, rules = [] }: Decision): string => {
  const { required, roles = [], actors = [], allow_self, expires_in_ms } = approvals ?? {};
  const matched = rules.flatMap(({ id, matched }) => (matched ? [id] : [])).sort();
  return JSON.stringify([rule_matched, matched, required, roles, actors, allow_self, expires_in_ms]);
};

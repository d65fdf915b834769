import type { Decision } from '@capstan/contracts';

/**
 * Whether policy takes changed inputs for the call that people have voted on: the same rules hold it and ask for the same
 * people, or nobody would have to be asked any more. Where policy draws a line (an amount, a recipient), a change across it is
 * another call, and one that it wants seen by all (`revote_on_edit`) always is.
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

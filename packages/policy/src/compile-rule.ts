import type { PolicyRule, RuleLook } from '@capstan/contracts';
import { compileExpression, type Expression } from '@capstan/expression';
import { compileMatch, type Test } from './compile-match.js';
import type { Request } from './request.js';

/** The variables that a condition may use. */
export const CONDITION_VARIABLES = ['inputs', 'actor', 'labels', 'tool', 'mode', 'session_id'];

/** True if a rule matches; an error if the condition could not be evaluated. */
export type Match = boolean | { error: string };

export type CompiledRule = {
  rule: PolicyRule;
  fixed: Test[];
  open: Test[];
  condition: Expression | { broken: string } | null;
  reason: string;
};

export function compileRule(rule: PolicyRule): CompiledRule {
  const tests = compileMatch(rule.match);
  return {
    rule,
    fixed: tests.filter((test) => test.fixed),
    open: tests.filter((test) => !test.fixed),
    condition: rule.if === undefined ? null : compileCondition(rule.if),
    reason: rule.reason ?? REASONS[rule.effect](rule.id),
  };
}

const REASONS = {
  allow: (id: string) => `allowed by ${id}`,
  hold: (id: string) => `rule ${id} asks for a person's consent`,
  forbid: (id: string) => `rule ${id} forbids this call`,
};

/** A condition that does not compile denies the calls that its rule matches, like one that fails during evaluation. */
function compileCondition(source: string): Expression | { broken: string } {
  const compiled = compileExpression(source, CONDITION_VARIABLES);
  return compiled.ok ? compiled.expression : { broken: compiled.error.message };
}

/** Tests the fixed part, which is the same for every call of a tool. */
export const couldMatch = ({ fixed }: CompiledRule, request: Request): boolean =>
  fixed.every((test) => test.holds(request));

/** Tests the rest of a rule whose fixed part matches. */
export function matchesNow({ open, condition }: CompiledRule, request: Request): Match {
  for (const test of open) if (!test.holds(request)) return false;
  if (condition === null) return true;
  if ('broken' in condition) return { error: condition.broken };
  const outcome = condition.evaluate(contextOf(request));
  if (!outcome.ok) return { error: `${outcome.error.message}, at column ${outcome.error.column} of its condition` };
  if (typeof outcome.value !== 'boolean') return { error: 'its condition is neither true nor false' };
  return outcome.value;
}

const contextOf = ({ inputs, actor, labels, descriptor, mode, session_id }: Request) => ({
  inputs,
  actor,
  labels,
  tool: descriptor,
  mode,
  session_id,
});

/** A rule's entry in the answer of `explain`. */
export function lookAt(compiled: CompiledRule, request: Request): RuleLook {
  const { rule, fixed, open, reason } = compiled;
  const failing = [...fixed, ...open].find((test) => !test.holds(request));
  if (failing) return { id: rule.id, matched: false, why: failing.why(request) };
  const match = matchesNow(compiled, request);
  if (typeof match === 'object')
    return { id: rule.id, matched: false, why: `it could not be evaluated: ${match.error}` };
  return { id: rule.id, matched: match, why: match ? reason : `its condition is false: ${rule.if}` };
}

export const readsInputs = ({ condition }: CompiledRule): boolean =>
  condition !== null && 'references' in condition && condition.references.some(({ path }) => path[0] === 'inputs');

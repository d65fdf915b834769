import type { Descriptor, Limits, PolicyDocument, PolicyRule, RuleLook } from '@capstan/contracts';
import { combineApprovals } from './combine-approvals.js';
import { type CompiledRule, compileRule, lookAt, matchesNow } from './compile-rule.js';
import { acceptsRisk, checkGate, effectCode, type Hold } from './gates.js';
import { limitsNow } from './limits.js';
import { nearMiss } from './near-miss.js';
import { deny, type Part, type Request, type Verdict } from './request.js';
import { createPlanner, type ToolPlan } from './tool-plan.js';

/** What one document says of a call; the tenant's and the installation's together are the decision. */
export type Judgement = { verdict: Verdict; rules: RuleLook[]; limits: Limits };

export type CompiledDocument = {
  judge(request: Request): Judgement;
  /** Every rule, and why it matches or not. */
  look(request: Request): RuleLook[];
  readsInputs(descriptor: Descriptor): boolean;
};

type Source = {
  document: PolicyDocument;
  part: Part;
  rules: readonly CompiledRule[];
  /** Hashes of the specifications that the tenant's document approves. */
  approved_specs: readonly string[];
};

export function compileDocument(
  document: PolicyDocument,
  part: Part,
  approved_specs: readonly string[],
): CompiledDocument {
  const rules = (document.rules ?? []).map(compileRule);
  const source: Source = { document, part, rules, approved_specs };
  const planOf = createPlanner(document, rules, part);
  const global_ms = document.global_timeout_seconds === undefined ? Infinity : document.global_timeout_seconds * 1000;
  return {
    judge: (request) => {
      const plan = planOf(request);
      const matched = matchRules(plan.rules, request);
      const left_ms = global_ms - (request.facts?.run_elapsed_ms ?? 0);
      const limits = limitsNow(plan.limits, request, left_ms);
      const { rules: also, ...verdict } = judge(source, plan, matched, request, left_ms);
      return { verdict, rules: also ? [...matched.looks, ...also] : matched.looks, limits };
    },
    look: (request) => rules.map((rule) => safely(rule, request)),
    readsInputs: (descriptor) => descriptor.tool_id === 'shell.run' || planOf({ ...NOBODY, descriptor }).reads_inputs,
  };
}

const NOBODY: Omit<Request, 'descriptor'> = {
  inputs: {},
  mode: 'execution',
  actor: { name: '', roles: [], tenant: '' },
  labels: {},
  session_id: null,
};

function safely(rule: CompiledRule, request: Request): RuleLook {
  try {
    return lookAt(rule, request);
  } catch (error) {
    return { id: rule.rule.id, matched: false, why: error instanceof Error ? error.message : 'it failed' };
  }
}

type Matched = {
  forbid: PolicyRule | null;
  allow: PolicyRule | null;
  /** Whether a rule that allows it has also accepted its risk. */
  accepted: boolean;
  holds: PolicyRule[];
  broken: { id: string; error: string } | null;
  looks: RuleLook[];
};

function matchRules(candidates: readonly CompiledRule[], request: Request): Matched {
  const matched: Matched = { forbid: null, allow: null, accepted: false, holds: [], broken: null, looks: [] };
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
    }
  }
  return matched;
}

/**
 * Any forbid denies; else any hold holds; else any allow allows; else it is denied. What fails on the way denies too. The
 * installation's document allows nothing by itself: what it has nothing against is left to the tenant's.
 */
function judge(
  { document, part, rules, approved_specs }: Source,
  plan: ToolPlan,
  matched: Matched,
  request: Request,
  left_ms: number,
): Verdict & { rules?: RuleLook[] } {
  const { forbid, allow, holds, broken } = matched;
  if (broken) return deny('RULE_ERROR', `rule ${broken.id} could not be evaluated: ${broken.error}`, broken.id);
  if (forbid) return forbidden(forbid);
  if (plan.refused) return plan.refused;
  if (part === 'tenant') {
    if (request.mode === 'planning' && !plan.read_only)
      return deny('PLANNING_MODE', 'planning mode allows only tools without side effects', null);
    if (!allow && holds.length === 0 && !plan.named) return nearMiss(rules, request);
  }
  const accepted = matched.accepted && plan.gate_yields;
  return (
    (accepted ? null : checkGate(plan.gate, approved_specs, request)) ??
    checkRun(document, request, left_ms) ??
    checkInputs(plan, request) ??
    heldOrAllowed(plan, allow, holds, accepted)
  );
}

const forbidden = (rule: PolicyRule): Verdict =>
  deny(effectCode(rule.match?.effects) ?? 'FORBIDDEN', rule.reason ?? `rule ${rule.id} forbids this call`, rule.id);

function checkRun({ max_calls_per_tool }: PolicyDocument, request: Request, left_ms: number): Verdict | null {
  const calls = request.facts?.calls_of_tool ?? 0;
  if (max_calls_per_tool !== undefined && calls >= max_calls_per_tool) {
    const said = `${request.descriptor.tool_id} was called ${calls} times in this run, and ${max_calls_per_tool} is the most`;
    return deny('CALLS_EXCEEDED', said, 'max_calls_per_tool');
  }
  if (left_ms > 0) return null;
  return deny('RUN_TIMEOUT', 'the time of this run is used up', 'global_timeout_seconds');
}

function checkInputs({ checks }: ToolPlan, request: Request): Verdict | null {
  for (const check of checks) {
    const refusal = check(request);
    if (refusal) return deny('CONSTRAINT', refusal.reason, refusal.rule);
  }
  return null;
}

/** What holds a call although no rule does is among the rules that were looked at, by its own name: `risk.HIGH`. */
function heldOrAllowed(
  plan: ToolPlan,
  allow: PolicyRule | null,
  holds: readonly PolicyRule[],
  accepted: boolean,
): Verdict & { rules?: RuleLook[] } {
  const gates = accepted ? plan.holds.effects : [...plan.holds.risk, ...plan.holds.effects];
  const all: Hold[] = [
    ...holds.map(({ id, reason, approvals }) => ({
      rule: id,
      reason: reason ?? `rule ${id} asks for a person's consent`,
      approvals,
    })),
    ...gates,
  ];
  const [first] = all;
  if (first)
    return {
      effect: 'hold',
      allowed: false,
      reason: all.map(({ reason }) => reason).join('; '),
      rule_matched: first.rule,
      code: 'HELD',
      approvals: combineApprovals(all.map(({ approvals }) => approvals)),
      rules: gates.map(({ rule, reason }) => ({ id: rule, matched: true, why: reason })),
    };
  if (!allow && !plan.named) return WITHIN;
  return {
    effect: 'allow',
    allowed: true,
    reason: allow ? (allow.reason ?? `allowed by ${allow.id}`) : `allowed by tools.${plan.named?.key}`,
    rule_matched: allow ? allow.id : `tools[${plan.named?.key}]`,
    code: null,
  };
}

/** Of the installation's document. */
const WITHIN: Verdict = {
  effect: 'allow',
  allowed: true,
  reason: 'the installation has nothing against it',
  rule_matched: null,
  code: null,
};

import {
  CLOSED_INSTALLATION,
  type Decision,
  type Descriptor,
  type EffectivePolicy,
  type Limits,
  type PolicyDocument,
  type PolicyRule,
  type RuleLook,
} from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { combineApprovals } from './combine-approvals.js';
import { type CompiledRule, compileRule, lookAt } from './compile-rule.js';
import { checkArguments } from './constraint/check-arguments.js';
import { checkGate, effectCode, type Hold } from './gates.js';
import { limitsNow } from './limits.js';
import { createLowering } from './lower-limits.js';
import { type Matched, matchRules } from './match-rules.js';
import { nearMiss } from './near-miss.js';
import { type CompiledPolicy, deny, type Part, type Request, type Verdict } from './request.js';
import { createSharing } from './share-decisions.js';
import { createPlanner, type ToolPlan } from './tool-plan.js';

/**
 * Combines a tenant's policy with the installation's: a denial by either denies, a hold by either holds, and the stricter value of each limit
 * applies. If the document contains no installation policy, everything that only such a policy can open stays closed.
 */
export function compilePolicy(document: EffectivePolicy): CompiledPolicy {
  const policy_hash = hashJson(document);
  const { installation = CLOSED_INSTALLATION, ...own } = document;
  const approved_specs = own.approved_specs ?? [];
  const tenant = compileDocument(own, 'tenant', approved_specs);
  const ceiling = compileDocument(installation, 'installation', approved_specs);
  const lowered = createLowering();
  const shared = createSharing();

  const decide = (request: Request): Decision => {
    try {
      const judged = tenant.judge(request);
      const bound = ceiling.judge(request);
      const { limits, lowered: which } = lowered(judged.limits, bound.limits, request.descriptor);
      const combined = combine(judged, bound);
      if (combined.verdict.effect === 'deny') return toDecision(combined, limits, which, policy_hash);
      const checked = checkArguments(request, limits);
      if ('limits' in checked)
        return shared(request.descriptor, toDecision(combined, checked.limits, which, policy_hash));
      const { rule, reason } = checked.refusal;
      // Whether the tenant's own policy would have allowed these arguments.
      const decided_by = 'limits' in checkArguments(request, judged.limits) ? 'installation' : 'tenant';
      const refused = { verdict: deny('CONSTRAINT', reason, rule), rules: combined.rules, decided_by } as const;
      return toDecision(refused, limits, which, policy_hash);
    } catch (error) {
      return { ...fault(error), rules: [], limits: NOTHING, decided_by: 'tenant', policy_hash };
    }
  };

  return {
    policy_hash,
    decide,
    explain: (request) => ({
      ...decide(request),
      rules: [...tenant.look(request), ...ceiling.look(request).map(ofInstallation)],
    }),
    readsInputs: (descriptor) => tenant.readsInputs(descriptor) || ceiling.readsInputs(descriptor),
  };
}

type Combined = { verdict: Verdict; rules: RuleLook[]; decided_by: 'tenant' | 'installation' };

const STRENGTH = { allow: 0, hold: 1, deny: 2 } as const;

/** `decided_by` is the installation only if the tenant's own policy would have allowed more. */
function combine(tenant: Judgement, ceiling: Judgement): Combined {
  const rules = ceiling.rules.length === 0 ? tenant.rules : [...tenant.rules, ...ceiling.rules.map(ofInstallation)];
  const [own, bound] = [tenant.verdict, ceiling.verdict];
  if (bound.effect === 'hold' && own.effect === 'hold')
    return { verdict: heldByBoth(own, bound), rules, decided_by: 'tenant' };
  return STRENGTH[bound.effect] > STRENGTH[own.effect]
    ? { verdict: bound, rules, decided_by: 'installation' }
    : { verdict: own, rules, decided_by: 'tenant' };
}

const heldByBoth = (own: Verdict, bound: Verdict): Verdict => ({
  ...own,
  reason: `${own.reason}; the installation: ${bound.reason}`,
  approvals: combineApprovals([own.approvals, bound.approvals]),
});

const ofInstallation = (look: RuleLook): RuleLook => ({ ...look, of: 'installation' });

/** Copied field by field, because spreading the verdict took most of the time of a decision. */
function toDecision(
  { verdict, rules, decided_by }: Combined,
  limits: Limits,
  lowered: string[] | null,
  policy_hash: string,
): Decision {
  const { effect, allowed, reason, rule_matched, code, approvals } = verdict;
  const decision: Decision = { effect, allowed, reason, rule_matched, code, rules, limits, decided_by, policy_hash };
  if (approvals) decision.approvals = approvals;
  if (lowered) decision.lowered = lowered;
  return decision;
}

const NOTHING: Limits = { timeout_ms: 1, max_output_bytes: 1 };

/** An internal error must not let a call through. */
const fault = (error: unknown): Verdict =>
  deny('POLICY_ERROR', `the policy could not be evaluated: ${error instanceof Error ? error.message : error}`, null);

/** The judgement of one document. Those of the tenant and of the installation together are the decision. */
type Judgement = { verdict: Verdict; rules: RuleLook[]; limits: Limits };

type CompiledDocument = {
  judge(request: Request): Judgement;
  /** Every rule, with the reason why it matches or does not. */
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

function compileDocument(document: PolicyDocument, part: Part, approved_specs: readonly string[]): CompiledDocument {
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
      const { rules: also, ...verdict } = verdictOf(source, plan, matched, request, left_ms);
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

/**
 * Any forbid rule denies; otherwise any hold rule holds; otherwise any allow rule allows; otherwise the call is denied. An error during evaluation
 * also denies. The installation's document never allows by itself: calls that it does not object to are left to the tenant's policy.
 */
function verdictOf(
  { document, part, rules, approved_specs }: Source,
  plan: ToolPlan,
  matched: Matched,
  request: Request,
  left_ms: number,
): Verdict & { rules?: RuleLook[] } {
  const { forbid, allow, holds, accepts, broken } = matched;
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
    heldOrAllowed(plan, allow, holds, gatesOf(plan, accepted, accepts))
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

function gatesOf({ holds: { risk, effects } }: ToolPlan, accepted: boolean, accepts: Matched['accepts']): Hold[] {
  const gates = accepted ? effects : [...risk, ...effects];
  return accepts ? gates.filter(({ rule }) => !accepts.has(rule)) : gates;
}

/** Gates that hold a call without a rule are listed among the rules, by their own name, such as `risk.HIGH`. */
function heldOrAllowed(
  plan: ToolPlan,
  allow: PolicyRule | null,
  holds: readonly PolicyRule[],
  gates: readonly Hold[],
): Verdict & { rules?: RuleLook[] } {
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

/** The verdict of the installation's document if it has no objection. */
const WITHIN: Verdict = {
  effect: 'allow',
  allowed: true,
  reason: 'the policy of the installation does not object',
  rule_matched: null,
  code: null,
};

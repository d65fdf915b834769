import { type Descriptor, type Limits, type PolicyDocument, type RiskGate, RUNNER_TRAITS } from '@capstan/contracts';
import { type CompiledRule, couldMatch, readsInputs } from './compile-rule.js';
import { checkNetwork } from './constraint/check-urls.js';
import type { Check } from './constraint/constraint.js';
import { entriesFor, type ToolEntry } from './constraint/tool-entries.js';
import { changeHold, effectGates, gateHold, type Hold, isDefaultGate, isReadOnly, riskGate } from './gates.js';
import { compileLimits, limitsNow, limitsOf, type ToolLimits } from './limits.js';
import type { Part, Request, Verdict } from './request.js';

/** Everything in a policy that depends on the tool alone, computed once for each tool. */
export type ToolPlan = {
  /** The rules that could match. */
  rules: CompiledRule[];
  /** The entry of `tools` that names the tool and so allows it. */
  named: ToolEntry | null;
  checks: Check[];
  limits: ToolLimits;
  gate: RiskGate;
  /** True if a rule that accepts the risk of the tool also passes the gate. */
  gate_yields: boolean;
  /** The denial because of its effects, if any. */
  refused: Verdict | null;
  /** Reasons to hold it besides the rules: its risk, its effects, and that its description has changed. */
  holds: { risk: Hold[]; effects: Hold[] };
  read_only: boolean;
  reads_inputs: boolean;
};

export function createPlanner(
  document: PolicyDocument,
  rules: CompiledRule[],
  part: Part,
): (request: Request) => ToolPlan {
  const limits = compileLimits(document);
  // Keyed by the descriptor object: a changed tool has a new one, and unused plans are garbage-collected.
  const plans = new WeakMap<Descriptor, ToolPlan>();
  return (request) => {
    const known = plans.get(request.descriptor);
    if (known) return known;
    const plan = makePlan(document, rules, limits, request, part);
    plans.set(request.descriptor, plan);
    return plan;
  };
}

function makePlan(
  document: PolicyDocument,
  rules: CompiledRule[],
  limits: ReturnType<typeof compileLimits>,
  request: Request,
  part: Part,
): ToolPlan {
  const { descriptor } = request;
  const entries = entriesFor(document, descriptor, part);
  const candidates = rules.filter((rule) => couldMatch(rule, request));
  const ofTool = limitsOf(document, limits, entries, request, part);
  const gate = riskGate(document, descriptor, entries, part);
  const effects = effectGates(document, descriptor);
  const checks = [...entries.flatMap((entry) => entry.checks), ...connectionChecks(descriptor, ofTool)];
  return {
    rules: candidates,
    named: entries.find(({ names_it }) => names_it) ?? null,
    checks,
    limits: ofTool,
    gate,
    gate_yields: isDefaultGate(document, descriptor, part),
    refused: Array.isArray(effects) ? null : effects,
    holds: {
      risk: gateHold(gate, descriptor),
      effects: [...(Array.isArray(effects) ? effects : []), ...(part === 'tenant' ? changeHold(descriptor) : [])],
    },
    read_only: isReadOnly(descriptor),
    reads_inputs: checks.length > 0 || candidates.some(readsInputs),
  };
}

function connectionChecks({ runner }: Descriptor, limits: ToolLimits): Check[] {
  if (!RUNNER_TRAITS[runner].inputs_name_address) return [];
  if (limits.open.length === 0) return [checkNetwork(limits.base.limits)];
  const checks = new WeakMap<Limits, Check>();
  return [
    (request) => {
      const now = limitsNow(limits, request, Infinity);
      const check = checks.get(now) ?? checkNetwork(now);
      checks.set(now, check);
      return check(request);
    },
  ];
}

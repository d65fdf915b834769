import {
  CLOSED_INSTALLATION,
  type Decision,
  type EffectivePolicy,
  type Limits,
  type RuleLook,
} from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { combineApprovals } from './combine-approvals.js';
import { compileDocument, type Judgement } from './compile-document.js';
import { checkArguments } from './constraint/check-arguments.js';
import { createLowering } from './lower-limits.js';
import { type CompiledPolicy, deny, type Request, type Verdict } from './request.js';

/**
 * A tenant's policy under the installation's: a denial of either denies, a hold of either holds, and of each limit the stricter
 * counts. Without an installation's policy in the document, what only that opens stays closed.
 */
export function compilePolicy(document: EffectivePolicy): CompiledPolicy {
  const policy_hash = hashJson(document);
  const { installation = CLOSED_INSTALLATION, ...own } = document;
  const approved_specs = own.approved_specs ?? [];
  const tenant = compileDocument(own, 'tenant', approved_specs);
  const ceiling = compileDocument(installation, 'installation', approved_specs);
  const lowered = createLowering();

  const decide = (request: Request): Decision => {
    try {
      const judged = tenant.judge(request);
      const bound = ceiling.judge(request);
      const { limits, lowered: which } = lowered(judged.limits, bound.limits, request.descriptor);
      const combined = combine(judged, bound);
      if (combined.verdict.effect === 'deny') return toDecision(combined, limits, which, policy_hash);
      const checked = checkArguments(request, limits);
      if ('limits' in checked) return toDecision(combined, checked.limits, which, policy_hash);
      const { rule, reason } = checked.refusal;
      // By itself, would the tenant's policy have allowed these arguments?
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

/** The installation decides only where the tenant's own policy would have allowed more. */
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

/** Member by member: spreading the verdict took most of the time of a decision. */
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

/** A fault of ours must not let a call through. */
const fault = (error: unknown): Verdict =>
  deny('POLICY_ERROR', `the policy could not be evaluated: ${error instanceof Error ? error.message : error}`, null);

import type { Decision, Descriptor, JsonObject, Limits } from '@capstan/contracts';
import { suggestConstraint } from './suggest-constraint.js';
import { canConnect, suggestHosts, suggestRule } from './suggest-rule.js';

export type Denied = {
  descriptor: Descriptor;
  inputs: JsonObject;
  decision: Pick<Decision, 'code' | 'rule_matched'> & Partial<Pick<Decision, 'limits' | 'decided_by'>>;
};

/** Suggests a change to the policy that allows a denied call. Null if the call was not denied and needs nothing. */
export function suggestFor(denied: Denied): string | null {
  const suggestion = changeFor(denied);
  if (suggestion === null || denied.decision.code === 'HELD' || denied.decision.decided_by !== 'installation')
    return suggestion;
  return `${BOUND} ${suggestion}`;
}

const BOUND = 'The policy of the installation decides this; only an admin of the tenant default changes it.';

function changeFor({ descriptor, inputs, decision }: Denied): string | null {
  const { code, rule_matched, decided_by = 'tenant' } = decision;
  const rule = rule_matched ?? 'the rule';
  switch (code) {
    case null:
      return isCutOff(descriptor, decision.limits) ? suggestHosts(descriptor) : null;
    case 'HELD':
      return 'It waits for a person: capstan holds, then capstan release <hold_id>.';
    case 'NO_RULE':
      return suggestRule(descriptor, inputs);
    case 'CONSTRAINT':
      return suggestConstraint(descriptor, inputs, rule, decided_by);
    case 'TRUST_INSUFFICIENT':
      return `Use a tool of a more trusted source, or set trust_min${rule_matched ? '' : ' of that rule'} in the policy to ${descriptor.trust}, if this one deserves it.`;
    case 'COST_EXCEEDED':
      return `Use a cheaper tool, or raise ${rule} in the policy.`;
    case 'RULE_ERROR':
      return `Correct the condition of rule ${rule}: a member that may be missing is asked for first, as in has(labels.env) && labels.env == 'prod'.`;
    case 'PLANNING_MODE':
      return 'Submit it with mode: execution, or plan with tools that only read.';
    case 'SPEC_NOT_FROZEN':
      return 'Freeze the specification, and submit with spec_frozen: true and its spec_hash.';
    case 'SPEC_HASH_MISMATCH':
      return 'Have the specification approved: capstan grant --plan <spec_hash>, or its hash in approved_specs of the policy.';
    case 'CALLS_EXCEEDED':
    case 'RUN_TIMEOUT':
      return `Split the work into several runs, or raise ${rule} in the policy.`;
    case 'POLICY_ERROR':
      return 'Look at the document with capstan policy get, and put a correct one.';
    case 'RISK_FORBIDDEN':
      return `Set ${rule}.effect in the policy to hold, so that a person decides, or to allow.`;
    default:
      return rule.startsWith('effects.')
        ? `Set ${rule} in the policy to hold, so that a person decides, or to allow.`
        : `Change rule ${rule} in the policy, or its match, if this call should be allowed.`;
  }
}

/** True for a program that uses the network but runs in a sandbox without one, because the policy names no hosts. */
const isCutOff = (descriptor: Descriptor, limits: Limits | undefined): boolean =>
  limits !== undefined &&
  limits.network === undefined &&
  descriptor.binding.kind !== 'native' &&
  canConnect(descriptor);

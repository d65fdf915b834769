import type { Backbone } from '@capstan/backbone';
import { type JsonObject, stepInvocationId } from '@capstan/contracts';
import type { CompiledStep } from '@capstan/plan';
import type { CompiledPolicy } from '@capstan/policy';
import type { ClaimedRun } from '@capstan/store';
import { type Admitted, admitUnsent } from '../admit-unsent.js';

/** A step that is to be called. */
export type StepCall = { run: ClaimedRun; step: CompiledStep; element: number | null; inputs: JsonObject };

const DEFAULT_BACKOFF_MS = 500;

/** Of the steps that are started together. */
export type Admission = { admit(policy: CompiledPolicy, call: StepCall): Promise<Admitted> };

/** That a plan was approved may be news that is still on its way: before a step is denied for it, it is looked up, once. */
export function openAdmission(parts: Pick<Backbone, 'catalog' | 'rules'>): Admission {
  let looked = false;
  return {
    admit: async (policy, call) => {
      const admitted = admitStep(parts, policy, call);
      if (looked || !admitted.ok || admitted.row.decision.code !== 'SPEC_HASH_MISMATCH') return admitted;
      looked = true;
      await parts.rules.refresh();
      return admitStep(parts, policy, call);
    },
  };
}

/** By the version of the policy that its run keeps. */
function admitStep(
  parts: Pick<Backbone, 'catalog' | 'rules'>,
  policy: CompiledPolicy,
  { run, step, element, inputs }: StepCall,
): Admitted {
  const call = {
    invocation_id: stepInvocationId(run.run_id, step.index, element),
    run_id: run.run_id,
    tenant: run.tenant,
    actor: run.actor,
    roles: run.roles,
    tool_id: step.tool_id,
    inputs,
    labels: run.labels,
    session_id: run.session_id,
    // A plan cannot change once it is submitted: it is the specification that its steps run inside.
    spec_frozen: true,
    spec_hash: run.plan_hash,
    timeout_ms: step.timeout_ms,
    max_attempts: step.retry?.max_attempts,
    retry_backoff_ms: step.retry ? (step.retry.backoff_ms ?? DEFAULT_BACKOFF_MS) : null,
  };
  return admitUnsent(parts, policy, call, (tool_id) => ({
    calls_of_tool: run.calls[tool_id] ?? 0,
    run_elapsed_ms: run.elapsed_ms,
  }));
}

import type { DryRun, DryStep, JsonObject, Principal } from '@capstan/contracts';
import { type CompiledPlan, type CompiledStep, type Preview, previewStep } from '@capstan/plan';
import type { CompiledPolicy } from '@capstan/policy';
import type { GatewayContext } from '../gateway-context.js';

const MAX_ELEMENTS = 100;

/** The decision about each step, as far as it can be known before anything has run. */
export function dryRun(
  { catalog, rules }: Pick<GatewayContext, 'catalog' | 'rules'>,
  principal: Principal,
  plan: CompiledPlan,
  inputs: JsonObject,
  policy: CompiledPolicy,
): DryRun {
  const calls = new Map<string, number>();
  const decide = (step: CompiledStep, preview: Preview): DryStep => {
    const about = {
      step_id: step.id,
      index: step.index,
      element: preview.element,
      name: step.name,
      tool_id: step.tool_id,
      needs: step.needs.map((need) => plan.steps[need]?.id ?? ''),
    };
    const nothing = { inputs: null, unknown: [], decision: null };
    if (preview.kind === 'skip') return { ...about, ...nothing, effect: 'skip', reason: preview.reason };
    if (preview.kind === 'fail') return { ...about, ...nothing, effect: 'invalid', reason: preview.reason };
    const { unknown, condition } = preview;
    const shown = { ...about, inputs: preview.inputs, unknown: condition === null ? unknown : [condition, ...unknown] };
    const tool = catalog.get(step.tool_id);
    if (!tool) return { ...shown, effect: 'invalid', reason: `there is no tool ${step.tool_id}`, decision: null };
    const [wrong] = unknown.length > 0 ? [] : tool.check(preview.inputs);
    if (wrong) return { ...shown, effect: 'invalid', reason: `${wrong.field} ${wrong.message}`, decision: null };
    if (unknown.length > 0 && policy.readsInputs(tool.descriptor))
      return { ...shown, effect: 'unknown', reason: 'it depends on what other steps give', decision: null };
    const { tool_id } = tool.descriptor;
    const decision = policy.decide({
      descriptor: tool.descriptor,
      inputs: tool.prepare(preview.inputs).inputs,
      mode: 'execution',
      timeout_ms: step.timeout_ms ?? undefined,
      actor: { name: principal.actor, roles: principal.roles, tenant: principal.tenant },
      labels: {},
      session_id: null,
      spec_frozen: true,
      spec_hash: plan.plan_hash,
      facts: { calls_of_tool: calls.get(tool_id) ?? 0, approved_specs: rules.approvedSpecs(principal.tenant) },
    });
    if (decision.allowed) calls.set(tool_id, (calls.get(tool_id) ?? 0) + 1);
    return { ...shown, effect: decision.effect, reason: decision.reason, decision };
  };
  let left_out = 0;
  const steps = plan.steps.flatMap((step) => {
    const preview = previewStep(step, inputs, MAX_ELEMENTS);
    left_out += preview.left_out;
    return preview.calls.map((call) => decide(step, call));
  });
  return { plan_hash: plan.plan_hash, policy_hash: policy.policy_hash, name: plan.name, steps, left_out };
}

import { requestOf, resolveTool, unlessDisabled } from '@capstan/admission';
import { describeErrors, type InputError } from '@capstan/catalog';
import type { Decision, ExplainRequest, Explanation, Principal } from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy, suggestFor } from '@capstan/policy';
import type { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { toolDisabled } from '../tool/tool-disabled.js';
import { readPolicy } from './read-policy.js';

/** What policy would decide about a call, with the reason for every rule. Nothing is recorded. */
export async function explain(
  gateway: GatewayContext,
  principal: Principal,
  asked: z.output<typeof ExplainRequest>,
): Promise<Explanation> {
  const tool = resolveTool(gateway.catalog, asked.tool_id);
  const { tenant } = principal;
  const { actor = principal.actor, roles = principal.roles, session_id = null } = asked;
  const call = { ...asked, tenant, actor, roles, session_id };
  const policy = await policyFor(gateway, principal, asked.policy);
  const explained = policy.explain(requestOf(gateway.rules, tool, call));
  const decision = unlessDisabled(gateway.catalog, tool, explained);
  if (decision.code === 'TOOL_DISABLED')
    return { ...decision, suggestion: toolDisabled(tool.descriptor.tool_id).suggestion };
  // Without inputs, the question is about the tool itself.
  const errors = Object.keys(asked.inputs).length > 0 ? tool.check(asked.inputs) : [];
  if (errors.length > 0 && decision.effect !== 'deny') return refusedInputs(decision, errors);
  const suggestion = suggestFor({ descriptor: tool.descriptor, inputs: asked.inputs, decision });
  return { ...decision, suggestion: suggestion ?? null, ...(errors.length > 0 ? { errors } : {}) };
}

/** A call that policy allows is still refused if the tool does not accept its inputs. */
const refusedInputs = ({ approvals: _, ...decision }: Decision, errors: InputError[]): Explanation => ({
  ...decision,
  effect: 'deny',
  allowed: false,
  reason: `the tool does not take these inputs: ${describeErrors(errors)}`,
  rule_matched: null,
  code: 'INVALID_INPUTS',
  suggestion: `Correct the inputs: ${describeErrors(errors)}.`,
  errors,
});

const policyFor = async (gateway: GatewayContext, { tenant }: Principal, draft: unknown): Promise<CompiledPolicy> =>
  draft === undefined
    ? gateway.policies.of(tenant)
    : compilePolicy({ ...(await readPolicy(gateway, tenant, draft)), installation: gateway.policies.installation() });

import { requestOf, resolveTool } from '@capstan/admission';
import type { ExplainRequest, Explanation, Principal } from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy, parsePolicy, suggestFor } from '@capstan/policy';
import type { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';

/** What policy would say, and of every rule why. Nothing is recorded. */
export function explain(
  gateway: GatewayContext,
  principal: Principal,
  asked: z.output<typeof ExplainRequest>,
): Explanation {
  const tool = resolveTool(gateway.catalog, asked.tool_id);
  const { tenant } = principal;
  const { actor = principal.actor, roles = principal.roles, session_id = null } = asked;
  const call = { ...asked, tenant, actor, roles, session_id };
  const decision = policyFor(gateway, principal, asked.policy).explain(requestOf(gateway.rules, tool, call));
  return { ...decision, suggestion: suggestFor({ descriptor: tool.descriptor, inputs: asked.inputs, decision }) };
}

export const policyFor = (gateway: GatewayContext, { tenant }: Principal, draft: unknown): CompiledPolicy =>
  draft === undefined ? gateway.policies.of(tenant) : compilePolicy(parsePolicy(draft));

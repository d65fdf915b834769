import type { ExplainRequest, Explanation, Principal } from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy, parsePolicy, suggestFor } from '@capstan/policy';
import type { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { resolveTool } from '../invocation/admit.js';

/** What policy would say, and of every rule why. Nothing is recorded. */
export function explain(
  gateway: GatewayContext,
  principal: Principal,
  asked: z.output<typeof ExplainRequest>,
): Explanation {
  const tool = resolveTool(gateway, asked.tool_id);
  const decision = policyFor(gateway, principal, asked.policy).explain({
    descriptor: tool.descriptor,
    inputs: tool.prepare(asked.inputs).inputs,
    mode: asked.mode,
    timeout_ms: asked.timeout_ms,
    actor: { name: asked.actor ?? principal.actor, roles: asked.roles ?? principal.roles, tenant: principal.tenant },
    labels: asked.labels,
    session_id: asked.session_id ?? null,
    spec_frozen: asked.spec_frozen,
    spec_hash: asked.spec_hash,
  });
  return { ...decision, suggestion: suggestFor({ tool_id: tool.descriptor.tool_id, inputs: asked.inputs, decision }) };
}

export const policyFor = (gateway: GatewayContext, { tenant }: Principal, draft: unknown): CompiledPolicy =>
  draft === undefined ? gateway.policies.of(tenant) : compilePolicy(parsePolicy(draft));

import { requestOf, resolveTool } from '@capstan/admission';
import type { CatalogEntry } from '@capstan/catalog';
import type { ExplainRequest, Explanation, JsonObject, Principal } from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy, suggestFor } from '@capstan/policy';
import type { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { readPolicy } from './read-policy.js';

/** What policy would say, and of every rule why. Nothing is recorded. */
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
  const decision = policy.explain(requestOf(gateway.rules, tool, call));
  const suggestion = suggestFor({ descriptor: tool.descriptor, inputs: asked.inputs, decision });
  return { ...decision, suggestion: suggestion ?? suggestInputs(tool, asked.inputs) };
}

/** What policy allows is still refused when the tool does not take it. Who gives no inputs asks about the tool alone. */
function suggestInputs(tool: CatalogEntry, inputs: JsonObject): string | null {
  const [wrong] = Object.keys(inputs).length > 0 ? tool.check(inputs) : [];
  return wrong ? `Correct the inputs: ${wrong.field} ${wrong.message}.` : null;
}

const policyFor = async (gateway: GatewayContext, { tenant }: Principal, draft: unknown): Promise<CompiledPolicy> =>
  draft === undefined
    ? gateway.policies.of(tenant)
    : compilePolicy({ ...(await readPolicy(gateway, tenant, draft)), installation: gateway.policies.installation() });

import type { Catalog } from '@capstan/catalog';
import type { Decision, Descriptor, JsonObject, Role } from '@capstan/contracts';
import { CanonicalJsonError, hashJson } from '@capstan/integrity';
import type { HeldCall, Proposal } from '@capstan/store';

type Decides = {
  decide(request: {
    descriptor: Descriptor;
    inputs: JsonObject;
    mode: 'execution' | 'planning';
    timeout_ms: number;
    actor: { name: string; roles: Role[]; tenant: string };
    labels: Record<string, string>;
    session_id: string | null;
    spec_frozen: boolean | null;
    spec_hash: string | null;
  }): Decision;
};

export type Proposed =
  | { ok: true; proposal: Proposal; descriptor: Descriptor }
  | { ok: false; kind: 'UNKNOWN_TOOL' | 'INVALID_INPUTS' | 'POLICY_DENIED'; why: string; decision?: Decision };

/**
 * What would run were a held call released now: the tool as it is, the inputs as they are to be, and what the policy in force
 * says of them. A denial cannot be released.
 */
export function proposeRelease(
  catalog: Catalog,
  hold: HeldCall,
  policy: Decides,
  inputs: JsonObject = hold.inputs,
): Proposed {
  const tool = catalog.get(hold.tool_id);
  if (!tool) return { ok: false, kind: 'UNKNOWN_TOOL', why: `there is no tool ${hold.tool_id} any more` };
  const [wrong] = tool.check(inputs);
  if (wrong) return { ok: false, kind: 'INVALID_INPUTS', why: `${wrong.field} ${wrong.message}` };
  const input_hash = hashOf(inputs);
  if (input_hash === null) return { ok: false, kind: 'INVALID_INPUTS', why: 'inputs cannot be hashed' };
  const { descriptor, descriptor_hash } = tool;
  const decision = policy.decide({
    descriptor,
    inputs: tool.prepare(inputs).inputs,
    mode: hold.mode,
    timeout_ms: hold.timeout_ms,
    actor: { name: hold.actor, roles: hold.roles, tenant: hold.tenant },
    labels: hold.labels,
    session_id: hold.session_id,
    spec_frozen: hold.spec_frozen,
    spec_hash: hold.spec_hash,
  });
  if (decision.effect === 'deny') return { ok: false, kind: 'POLICY_DENIED', why: decision.reason, decision };
  const { policy_hash } = decision;
  const { runner, effects } = descriptor;
  const proposal = {
    inputs,
    input_hash,
    descriptor_hash,
    policy_hash,
    decision,
    runner,
    idempotent: effects.idempotent,
  };
  return { ok: true, proposal, descriptor };
}

function hashOf(inputs: JsonObject): string | null {
  try {
    return hashJson(inputs);
  } catch (error) {
    if (error instanceof CanonicalJsonError) return null;
    throw error;
  }
}

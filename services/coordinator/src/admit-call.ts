import { type Backbone, underQuotas } from '@capstan/backbone';
import type { Decision, InvocationStatus, JsonObject, Role } from '@capstan/contracts';
import { CanonicalJsonError, hashJson } from '@capstan/integrity';
import type { CompiledPolicy, Facts } from '@capstan/policy';
import type { NewInvocation } from '@capstan/store';

/** A call that nobody sends at the moment: a step of a plan, or a start of a schedule. */
export type UnsentCall = {
  invocation_id: string;
  run_id: string | null;
  by: { tenant: string; actor: string; roles: Role[] };
  tool_id: string;
  inputs: JsonObject;
  labels: Record<string, string>;
  session_id: string | null;
  idempotency_key?: string | null;
  spec_hash?: string | null;
  priority?: number;
  timeout_ms?: number | null;
  max_attempts?: number | null;
  retry_backoff_ms?: number | null;
  webhook_url?: string | null;
  /** What the call itself does not say, of the tool that it turns out to be. */
  facts?(tool_id: string): Facts;
};

/** A denial is a row too: it is kept on record, with the decision. */
export type AdmittedCall = { ok: true; row: NewInvocation } | { ok: false; reason: string };

const IDEMPOTENT_ATTEMPTS = 3;
const HOLD_MS = 86_400_000;
const FIRST_STATUS: Record<Decision['effect'], InvocationStatus> = { allow: 'queued', hold: 'held', deny: 'denied' };

/** Admission as at the gateway: resolve the tool → check its inputs → decide → a row that says it all. */
export function admitCall(
  { catalog, rules }: Pick<Backbone, 'catalog' | 'rules'>,
  policy: CompiledPolicy,
  call: UnsentCall,
): AdmittedCall {
  const { by, inputs, labels, session_id } = call;
  const tool = catalog.get(call.tool_id);
  if (!tool) return { ok: false, reason: `there is no tool ${call.tool_id}` };
  const [wrong] = tool.check(inputs);
  if (wrong) return { ok: false, reason: `${wrong.field} ${wrong.message}` };
  const hashed = hashInputs(inputs);
  if (!hashed.ok) return hashed;
  const { descriptor, descriptor_hash } = tool;
  const { idempotent } = descriptor.effects;
  const spec = { spec_frozen: call.spec_hash ? true : null, spec_hash: call.spec_hash ?? null };
  const decision = policy.decide({
    descriptor,
    inputs: tool.prepare(inputs).inputs,
    mode: 'execution',
    timeout_ms: call.timeout_ms ?? undefined,
    actor: { name: by.actor, roles: by.roles, tenant: by.tenant },
    labels,
    session_id,
    ...spec,
    facts: call.facts?.(descriptor.tool_id),
  });
  const row: NewInvocation = {
    invocation_id: call.invocation_id,
    tenant: by.tenant,
    actor: by.actor,
    roles: by.roles,
    run_id: call.run_id,
    tool_id: descriptor.tool_id,
    runner: descriptor.runner,
    inputs,
    input_hash: hashed.hash,
    descriptor_hash,
    policy_hash: decision.policy_hash,
    decision,
    mode: 'execution',
    session_id,
    idempotency_key: call.idempotency_key ?? null,
    idempotent,
    ...spec,
    priority: call.priority ?? 0,
    timeout_ms: decision.limits.timeout_ms,
    max_attempts: call.max_attempts ?? (idempotent ? IDEMPOTENT_ATTEMPTS : 1),
    retry_backoff_ms: call.retry_backoff_ms ?? null,
    webhook_url: call.webhook_url ?? null,
    labels,
    ...underQuotas(
      rules,
      by,
      descriptor,
      {
        status: FIRST_STATUS[decision.effect],
        expires_in_ms:
          decision.effect === 'hold' ? Math.min(HOLD_MS, decision.approvals?.expires_in_ms ?? HOLD_MS) : null,
      },
      true,
    ),
    run_at: null,
    delay_ms: null,
    watched: rules.watches(by.tenant),
  };
  return { ok: true, row };
}

function hashInputs(inputs: JsonObject): { ok: true; hash: string } | { ok: false; reason: string } {
  try {
    return { ok: true, hash: hashJson(inputs) };
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    return { ok: false, reason: `inputs: ${error.message}` };
  }
}

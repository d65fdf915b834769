import type { Backbone } from '@capstan/backbone';
import { type Decision, type JsonObject, queueOf, type Role } from '@capstan/contracts';
import type { CompiledPolicy } from '@capstan/policy';
import type { AdmittedStatus, NewInvocation } from '@capstan/store';
import { type FactsOf, judge } from './judge.js';
import { underQuotas } from './under-quotas.js';

/** A call that asks to be admitted: sent by a backend, made by a plan or started by a schedule. */
export type Call = {
  invocation_id: string;
  run_id: string | null;
  tenant: string;
  actor: string;
  roles: Role[];
  tool_id: string;
  inputs: JsonObject;
  mode: 'execution' | 'planning';
  labels: Record<string, string>;
  session_id: string | null;
  idempotency_key?: string | null | undefined;
  spec_frozen?: boolean | null | undefined;
  spec_hash?: string | null | undefined;
  priority?: number | undefined;
  timeout_ms?: number | null | undefined;
  max_attempts?: number | null | undefined;
  retry_backoff_ms?: number | null | undefined;
  webhook_url?: string | null | undefined;
  delay_ms?: number | undefined;
  run_at?: string | undefined;
  expires_in_ms?: number | undefined;
  /** Whether nobody is there to be told that a quota is used up: then it waits. */
  unattended?: boolean;
};

/** Tools that may be repeated are, by default; the others are tried once. */
const IDEMPOTENT_ATTEMPTS = 3;
/** Nothing waits for ever: a hold that nobody decides ends `expired`. */
const HOLD_MS = 86_400_000;

/**
 * Admission, up to the commit: resolve the tool → check its inputs → decide → a row that says it all. A denial is a row
 * too: it is kept on record, with the decision. What cannot be judged at all is a Failure.
 */
export function admit(
  snapshots: Pick<Backbone, 'catalog' | 'rules'>,
  policy: Pick<CompiledPolicy, 'decide'>,
  call: Call,
  facts?: FactsOf,
): NewInvocation {
  const { entry, input_hash, decision } = judge(snapshots, policy, call, facts);
  const { rules } = snapshots;
  const { descriptor, descriptor_hash } = entry;
  const { idempotent } = descriptor.effects;
  return {
    invocation_id: call.invocation_id,
    tenant: call.tenant,
    actor: call.actor,
    roles: call.roles,
    run_id: call.run_id,
    tool_id: descriptor.tool_id,
    runner: queueOf(descriptor),
    inputs: call.inputs,
    input_hash,
    descriptor_hash,
    policy_hash: decision.policy_hash,
    decision,
    mode: call.mode,
    session_id: call.session_id,
    idempotency_key: call.idempotency_key ?? null,
    idempotent,
    spec_frozen: call.spec_frozen ?? null,
    spec_hash: call.spec_hash ?? null,
    priority: call.priority ?? 0,
    timeout_ms: decision.limits.timeout_ms,
    max_attempts: call.max_attempts ?? (idempotent ? IDEMPOTENT_ATTEMPTS : 1),
    retry_backoff_ms: call.retry_backoff_ms ?? null,
    webhook_url: call.webhook_url ?? null,
    labels: call.labels,
    ...underQuotas(
      rules,
      call,
      descriptor,
      { status: firstStatus(decision, call), expires_in_ms: expiryOf(decision, call) },
      call.unattended,
    ),
    run_at: call.run_at ?? null,
    delay_ms: call.delay_ms ?? null,
    watched: rules.watches(call.tenant),
  };
}

function firstStatus(decision: Decision, { delay_ms, run_at }: Call): AdmittedStatus {
  if (decision.effect === 'deny') return 'denied';
  if (decision.effect === 'hold') return 'held';
  return delay_ms || run_at ? 'deferred' : 'queued';
}

/** A hold ends when policy says, also where the call would wait longer. */
function expiryOf(decision: Decision, { expires_in_ms }: Call): number | null {
  if (decision.effect !== 'hold') return expires_in_ms ?? null;
  return Math.min(expires_in_ms ?? HOLD_MS, decision.approvals?.expires_in_ms ?? HOLD_MS);
}

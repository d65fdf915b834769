import type { Backbone, LiveRules } from '@capstan/backbone';
import { type Catalog, type CatalogEntry, describeErrors } from '@capstan/catalog';
import { DAY_MS, type Decision, Failure, type JsonObject, queueOf, type Role } from '@capstan/contracts';
import { CanonicalJsonError, hashJson } from '@capstan/integrity';
import type { CompiledPolicy, Facts, Request } from '@capstan/policy';
import type { AdmittedStatus, NewInvocation } from '@capstan/store/invocation';
import { underQuotas } from './under-quotas.js';

/** A call to admit: sent by a client, made by a plan or started by a schedule. */
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
  /** True if no client waits for the call. It then waits when a quota is used up, instead of being denied. */
  unattended?: boolean;
};

/** The default number of attempts for idempotent tools. Other tools are tried once. */
const IDEMPOTENT_ATTEMPTS = 3;
/** The default lifetime of a hold. One that nobody decides ends `expired`. */
const HOLD_MS = DAY_MS;

/**
 * Admits a call, up to the commit: resolves the tool, checks the inputs, applies the policy and returns the row to insert. A denied
 * call is also a row, which records the decision. Throws a `Failure` if the policy cannot be applied at all.
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

/** A hold expires when the policy says, even if the call would wait longer. */
function expiryOf(decision: Decision, { expires_in_ms }: Call): number | null {
  if (decision.effect !== 'hold') return expires_in_ms ?? null;
  return Math.min(expires_in_ms ?? HOLD_MS, decision.approvals?.expires_in_ms ?? HOLD_MS);
}

/** The parts of a call that the policy needs, each time it is judged: at submission, before a release, and again before it runs. */
export type JudgedCall = {
  tenant: string;
  actor: string;
  roles: readonly Role[];
  tool_id: string;
  inputs: JsonObject;
  mode: 'execution' | 'planning';
  labels: Readonly<Record<string, string>>;
  session_id: string | null;
  timeout_ms?: number | null | undefined;
  spec_frozen?: boolean | null | undefined;
  spec_hash?: string | null | undefined;
};

/** Facts about the resolved tool that are not part of the call itself. */
export type FactsOf = (tool_id: string) => Facts;

/** The current tools and approved specifications. */
export type Snapshots = {
  catalog: Pick<Catalog, 'get' | 'disabled' | 'similar'>;
  rules: Pick<LiveRules, 'approvedSpecs'>;
};

export type Judgement = { entry: CatalogEntry; input_hash: string; decision: Decision };

/** Resolves the tool, checks the inputs against its schema, hashes them as sent, and applies the policy. */
export function judge(
  { catalog, rules }: Snapshots,
  policy: Pick<CompiledPolicy, 'decide'>,
  call: JudgedCall,
  facts?: FactsOf,
): Judgement {
  const entry = resolveTool(catalog, call.tool_id);
  // The inputs of a disabled tool are not checked: the call is denied anyway.
  const input_hash = isDisabled(catalog, entry) ? hashInputs(call.inputs) : checkInputs(entry, call.inputs);
  const decision = policy.decide(requestOf(rules, entry, call, facts?.(entry.descriptor.tool_id)));
  return { entry, input_hash, decision: unlessDisabled(catalog, entry, decision) };
}

const isDisabled = (catalog: Pick<Catalog, 'get'>, { descriptor }: CatalogEntry): boolean =>
  catalog.get(descriptor.tool_id) === undefined;

/** Denies calls of a disabled tool, whatever the policy says. */
export function unlessDisabled(catalog: Pick<Catalog, 'get'>, entry: CatalogEntry, decision: Decision): Decision {
  if (!isDisabled(catalog, entry)) return decision;
  const { approvals: _, ...rest } = decision;
  return {
    ...rest,
    effect: 'deny',
    allowed: false,
    reason: 'the tool is disabled',
    rule_matched: null,
    code: 'TOOL_DISABLED',
  };
}

export const requestOf = (
  rules: Pick<LiveRules, 'approvedSpecs'>,
  entry: CatalogEntry,
  call: JudgedCall,
  facts?: Facts,
): Request => ({
  descriptor: entry.descriptor,
  // As the tool gets them, because the policy must judge what will run.
  inputs: entry.prepare(call.inputs).inputs,
  mode: call.mode,
  timeout_ms: call.timeout_ms ?? undefined,
  actor: { name: call.actor, roles: call.roles, tenant: call.tenant },
  labels: call.labels,
  session_id: call.session_id,
  spec_frozen: call.spec_frozen,
  spec_hash: call.spec_hash,
  facts: call.spec_hash ? { ...facts, approved_specs: rules.approvedSpecs(call.tenant) } : facts,
});

export function resolveTool(catalog: Snapshots['catalog'], tool_id: string): CatalogEntry {
  const tool = catalog.get(tool_id) ?? catalog.disabled(tool_id);
  if (tool) return tool;
  const similar = catalog.similar(tool_id);
  throw new Failure('UNKNOWN_TOOL', {
    detail: `There is no tool ${JSON.stringify(tool_id)}.`,
    context: { similar },
    ...(similar.length > 0 ? { suggestion: `Did you mean ${similar.join(', ')}?` } : {}),
  });
}

function checkInputs(tool: CatalogEntry, inputs: JsonObject): string {
  const errors = tool.check(inputs);
  if (errors.length > 0) throw new Failure('INVALID_INPUTS', { detail: describeErrors(errors), context: { errors } });
  return hashInputs(inputs);
}

function hashInputs(inputs: JsonObject): string {
  try {
    return hashJson(inputs);
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    throw new Failure('INVALID_INPUTS', { detail: `inputs: ${error.message}`, cause: error });
  }
}

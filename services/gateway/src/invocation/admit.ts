import { underQuotas } from '@capstan/backbone';
import type { CatalogEntry } from '@capstan/catalog';
import { type Decision, Failure, type InvocationStatus, type Principal, Submission } from '@capstan/contracts';
import { CanonicalJsonError, hashJson } from '@capstan/integrity';
import { type Facts, suggestFor } from '@capstan/policy';
import type { NewInvocation } from '@capstan/store';
import { nanoid } from 'nanoid';
import type { GatewayContext } from '../gateway-context.js';
import { invalidRequest } from '../http/parse-request.js';
import { isQuotaDenial, quotaDenial } from '../quota/quota-denial.js';

/** Tools that may be repeated are, by default; the others are tried once. */
const IDEMPOTENT_ATTEMPTS = 3;
/** Nothing waits for ever: a hold that nobody decides ends `expired`. */
const HOLD_MS = 86_400_000;

/**
 * Admission, up to the commit: validate → resolve the tool → check its inputs → decide → a row that says it all.
 * A denial is a row too: it is kept on record, with the decision.
 */
export function admit(
  gateway: GatewayContext,
  principal: Principal,
  sent: unknown,
  run_id: string | null,
  facts?: (tool_id: string) => Facts,
): NewInvocation {
  const submission = validate(sent);
  const tool = resolveTool(gateway, submission.tool_id);
  const input_hash = checkInputs(tool, submission);
  const decision = gateway.policies.of(principal.tenant).decide({
    descriptor: tool.descriptor,
    // As the tool is to get them: what is judged has to be what runs.
    inputs: tool.prepare(submission.inputs).inputs,
    mode: submission.mode,
    timeout_ms: submission.timeout_ms,
    actor: { name: principal.actor, roles: principal.roles, tenant: principal.tenant },
    labels: submission.labels,
    session_id: submission.session_id ?? null,
    spec_frozen: submission.spec_frozen,
    spec_hash: submission.spec_hash,
    facts: facts?.(tool.descriptor.tool_id),
  });
  const { descriptor, descriptor_hash } = tool;
  return {
    invocation_id: `inv_${nanoid()}`,
    tenant: principal.tenant,
    actor: principal.actor,
    roles: principal.roles,
    run_id,
    tool_id: descriptor.tool_id,
    runner: descriptor.runner,
    inputs: submission.inputs,
    input_hash,
    descriptor_hash,
    policy_hash: decision.policy_hash,
    decision,
    mode: submission.mode,
    session_id: submission.session_id ?? null,
    idempotency_key: submission.idempotency_key ?? null,
    idempotent: descriptor.effects.idempotent,
    spec_frozen: submission.spec_frozen ?? null,
    spec_hash: submission.spec_hash ?? null,
    priority: submission.priority,
    timeout_ms: decision.limits.timeout_ms,
    max_attempts: submission.max_attempts ?? (descriptor.effects.idempotent ? IDEMPOTENT_ATTEMPTS : 1),
    webhook_url: submission.webhook_url ?? null,
    labels: submission.labels,
    ...underQuotas(gateway.rules, principal, descriptor, {
      status: firstStatus(decision, submission),
      expires_in_ms: expiryOf(decision, submission),
    }),
    run_at: submission.run_at ?? null,
    delay_ms: submission.delay_ms ?? null,
    watched: gateway.rules.watches(principal.tenant),
  };
}

function validate(sent: unknown): Submission {
  const parsed = Submission.safeParse(sent);
  if (!parsed.success) throw invalidRequest(parsed.error, 'body');
  if (parsed.data.delay_ms !== undefined && parsed.data.run_at !== undefined)
    throw new Failure('INVALID_REQUEST', { detail: 'delay_ms and run_at cannot both be given.' });
  return parsed.data;
}

export function resolveTool({ catalog }: Pick<GatewayContext, 'catalog'>, tool_id: string): CatalogEntry {
  const tool = catalog.get(tool_id);
  if (tool) return tool;
  const similar = catalog.similar(tool_id);
  throw new Failure('UNKNOWN_TOOL', {
    detail: `There is no tool ${JSON.stringify(tool_id)}.`,
    context: { similar },
    ...(similar.length > 0 ? { suggestion: `Did you mean ${similar.join(', ')}?` } : {}),
  });
}

function checkInputs(tool: CatalogEntry, { inputs }: Submission): string {
  const errors = tool.check(inputs);
  const first = errors[0];
  if (first) throw new Failure('INVALID_INPUTS', { detail: `${first.field} ${first.message}`, context: { errors } });
  try {
    return hashJson(inputs);
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    throw new Failure('INVALID_INPUTS', { detail: `inputs: ${error.message}`, cause: error });
  }
}

function firstStatus(decision: Decision, { delay_ms, run_at }: Submission): InvocationStatus {
  if (decision.effect === 'deny') return 'denied';
  if (decision.effect === 'hold') return 'held';
  return delay_ms || run_at ? 'deferred' : 'queued';
}

/** A hold ends when policy says, also where the submission would wait longer. */
function expiryOf(decision: Decision, { expires_in_ms }: Submission): number | null {
  if (decision.effect !== 'hold') return expires_in_ms ?? null;
  return Math.min(expires_in_ms ?? HOLD_MS, decision.approvals?.expires_in_ms ?? HOLD_MS);
}

type DeniedRow = Pick<NewInvocation, 'invocation_id' | 'tool_id' | 'inputs'> & { decision: Decision };

export function denial(row: DeniedRow): Failure {
  if (isQuotaDenial(row)) return quotaDenial(row);
  const suggestion = suggestFor(row);
  return new Failure('POLICY_DENIED', {
    detail: `Policy denies ${row.tool_id}: ${row.decision.reason}.`,
    ...(suggestion ? { suggestion } : {}),
    context: { invocation_id: row.invocation_id, decision: row.decision },
  });
}

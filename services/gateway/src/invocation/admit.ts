import { admit, type Call, type FactsOf, newInvocationId } from '@capstan/admission';
import { type Decision, Failure, type Principal, Submission } from '@capstan/contracts';
import { suggestFor } from '@capstan/policy';
import type { NewInvocation } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { invalidRequest } from '../http/parse-request.js';
import { isQuotaDenial, quotaDenial } from '../quota/quota-denial.js';

/** Admission of what was sent: validate, then as every call. */
export function admitSent(
  gateway: GatewayContext,
  { tenant, actor, roles }: Principal,
  sent: unknown,
  run_id: string | null,
  facts?: FactsOf,
): NewInvocation {
  const submission = validate(sent);
  gateway.webhook_addresses.check(submission.webhook_url, 'webhook_url');
  // Written out: a spread of the submission cost more than all checks together (16.8 of 21 µs).
  const call: Call = {
    invocation_id: newInvocationId(),
    run_id,
    tenant,
    actor,
    roles,
    tool_id: submission.tool_id,
    inputs: submission.inputs,
    mode: submission.mode,
    labels: submission.labels,
    session_id: submission.session_id ?? null,
    idempotency_key: submission.idempotency_key,
    spec_frozen: submission.spec_frozen,
    spec_hash: submission.spec_hash,
    priority: submission.priority,
    timeout_ms: submission.timeout_ms,
    max_attempts: submission.max_attempts,
    webhook_url: submission.webhook_url,
    delay_ms: submission.delay_ms,
    run_at: submission.run_at,
    expires_in_ms: submission.expires_in_ms,
  };
  return admit(gateway, gateway.policies.of(tenant), call, facts);
}

function validate(sent: unknown): Submission {
  const parsed = Submission.safeParse(sent);
  if (!parsed.success) throw invalidRequest(parsed.error, 'body');
  if (parsed.data.delay_ms !== undefined && parsed.data.run_at !== undefined)
    throw new Failure('INVALID_REQUEST', { detail: 'delay_ms and run_at cannot both be given.' });
  return parsed.data;
}

type DeniedRow = Pick<NewInvocation, 'invocation_id' | 'tool_id' | 'inputs'> & { decision: Decision };

export function denial({ catalog }: GatewayContext, row: DeniedRow): Failure {
  if (isQuotaDenial(row)) return quotaDenial(row);
  if (row.decision.code === 'TOOL_DISABLED')
    return new Failure('TOOL_DISABLED', {
      detail: `${row.tool_id} is disabled.`,
      context: { invocation_id: row.invocation_id, decision: row.decision },
    });
  const descriptor = catalog.get(row.tool_id)?.descriptor;
  const suggestion = descriptor && suggestFor({ descriptor, inputs: row.inputs, decision: row.decision });
  return new Failure('POLICY_DENIED', {
    detail: `Policy denies ${row.tool_id}: ${row.decision.reason}.`,
    ...(suggestion ? { suggestion } : {}),
    context: { invocation_id: row.invocation_id, decision: row.decision },
  });
}

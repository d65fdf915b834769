import { admit, type Call, type FactsOf, newInvocationId } from '@capstan/admission';
import {
  type Decision,
  deniedAtRun,
  Failure,
  holdIdOf,
  type Invocation,
  isTerminal,
  loneRunId,
  type Principal,
  Submission,
} from '@capstan/contracts';
import { suggestFor } from '@capstan/policy';
import { hasLiveGrants } from '@capstan/store/hold';
import type { InvocationOutcome, NewInvocation } from '@capstan/store/invocation';
import type { RoomLeft } from '@capstan/store/quota';
import type { GatewayContext } from '../gateway-context.js';
import { invalidRequest } from '../http/parse-request.js';
import { noteWait } from '../http/trace-request.js';
import { isQuotaDenial, quotaDenial } from '../quota/quota-denial.js';
import { toolDisabled } from '../tool/tool-disabled.js';
import type { Waiting } from './waiters.js';

export type Answer = { status: 200 | 202; invocation: Invocation; room?: RoomLeft | undefined };

/** Admits one invocation, commits it and, if requested, waits for its end. */
export async function submit(
  gateway: GatewayContext,
  principal: Principal,
  sent: unknown,
  wait_ms: number,
): Promise<Answer> {
  const row = admitSent(gateway, principal, sent, null);
  const mayEnd = row.status === 'queued' || row.status === 'deferred' || (await mayBeGranted(gateway, row, wait_ms));
  const patience_ms = mayEnd ? (row.status === 'held' ? Math.min(wait_ms, GRANTED_MS) : wait_ms) : 0;
  // Starts waiting before the commit, because a quick tool may end before the insert returns.
  const waiting = patience_ms > 0 ? gateway.waiters.wait(row.invocation_id, patience_ms) : null;
  try {
    const committed = await gateway.committer.one(row);
    if (committed.kind === 'known') return await answerKnown(gateway, row, committed.invocation, wait_ms);
    countSubmitted(gateway, row);
    if (row.status === 'denied') throw denial(gateway, row);
    const { created_at, room } = committed;
    return { ...answer(toInvocation(row, created_at), waiting && (await waited(waiting))), room };
  } finally {
    waiting?.cancel();
  }
}

/** Counts a call that is committed. */
export function countSubmitted({ metrics, denials }: GatewayContext, { status, decision }: NewInvocation): void {
  metrics.submitted({ status });
  if (status === 'denied') denials.note(decision.code);
}

async function waited({ ended }: Waiting): Promise<InvocationOutcome | null> {
  const began = performance.now();
  const outcome = await ended;
  noteWait(performance.now() - began, outcome?.status ?? null);
  return outcome;
}

/** Time for a grant to release the call. After that, the response names the hold instead of waiting for a person. */
const GRANTED_MS = 2000;

const mayBeGranted = async ({ store }: GatewayContext, { status, tenant }: NewInvocation, wait_ms: number) =>
  status === 'held' && wait_ms > 0 && (await hasLiveGrants(store.db, tenant));

/** Returns the first invocation with this key, unless it was a different call. */
async function answerKnown(
  gateway: GatewayContext,
  row: NewInvocation,
  known: Invocation,
  wait_ms: number,
): Promise<Answer> {
  if (known.tool_id !== row.tool_id || known.input_hash !== row.input_hash)
    throw new Failure('IDEMPOTENCY_CONFLICT', {
      detail: 'This idempotency_key was used for another call.',
      context: { invocation_id: known.invocation_id },
    });
  if (known.status === 'denied') throw denial(gateway, known);
  if (wait_ms === 0 || isTerminal(known.status)) return { status: wait_ms > 0 ? 200 : 202, invocation: known };
  return answer(known, await gateway.waiters.wait(known.invocation_id, wait_ms).ended);
}

function answer(invocation: Invocation, outcome: InvocationOutcome | null): Answer {
  if (!outcome) return { status: 202, invocation };
  const { status, attempt, finished_at, result } = outcome;
  const ended = { ...invocation, status, attempt, finished_at, result };
  const decision = result && deniedAtRun(ended, result);
  return { status: 200, invocation: decision ? { ...ended, decision } : ended };
}

/** The response for a new row, in the same form as everywhere else. */
function toInvocation(row: NewInvocation, created_at: string): Invocation {
  return {
    invocation_id: row.invocation_id,
    run_id: row.run_id ?? loneRunId(row.invocation_id),
    tool_id: row.tool_id,
    runner: row.runner,
    status: row.status,
    actor: row.actor,
    inputs: row.inputs,
    input_hash: row.input_hash,
    descriptor_hash: row.descriptor_hash,
    policy_hash: row.policy_hash,
    decision: row.decision,
    hold_id: row.status === 'held' ? holdIdOf(row.invocation_id) : null,
    mode: row.mode,
    session_id: row.session_id,
    idempotency_key: row.idempotency_key,
    priority: row.priority,
    timeout_ms: row.timeout_ms,
    max_attempts: row.max_attempts,
    attempt: 0,
    labels: row.labels,
    run_at: row.run_at ?? later(created_at, row.delay_ms),
    expires_at: later(created_at, row.expires_in_ms),
    created_at,
    finished_at: null,
    result: null,
  };
}

/** The sum as Postgres computes and formats it: in microseconds, which Date does not support, and without trailing zeros. */
function later(moment: string, ms: number | null | undefined): string | null {
  if (ms === null || ms === undefined) return null;
  const micros = /\.\d{3}(\d+)Z$/.exec(moment)?.[1] ?? '';
  return new Date(Date.parse(moment) + ms)
    .toISOString()
    .replace('Z', `${micros}Z`)
    .replace(/\.?0+Z$/, 'Z');
}

/** Validates and admits a submission. */
export function admitSent(
  gateway: GatewayContext,
  { tenant, actor, roles }: Principal,
  sent: unknown,
  run_id: string | null,
  facts?: FactsOf,
): NewInvocation {
  const submission = validate(sent);
  gateway.webhook_addresses.check(submission.webhook_url, 'webhook_url');
  // Copied field by field: spreading the submission cost more than all checks together (16.8 of 21 µs).
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
    return toolDisabled(row.tool_id, { invocation_id: row.invocation_id, decision: row.decision });
  const descriptor = catalog.get(row.tool_id)?.descriptor;
  const suggestion = descriptor && suggestFor({ descriptor, inputs: row.inputs, decision: row.decision });
  return new Failure('POLICY_DENIED', {
    detail: `Policy denies ${row.tool_id}: ${row.decision.reason}.`,
    ...(suggestion ? { suggestion } : {}),
    context: { invocation_id: row.invocation_id, decision: row.decision },
  });
}

import {
  deniedAtRun,
  Failure,
  holdIdOf,
  type Invocation,
  isTerminal,
  loneRunId,
  type Principal,
} from '@capstan/contracts';
import { hasLiveGrants, type InvocationOutcome, type NewInvocation, type RoomLeft } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { noteWait } from '../http/trace-request.js';
import { admitSent, denial } from './admit.js';
import type { Waiting } from './waiters.js';

export type Answer = { status: 200 | 202; invocation: Invocation; room?: RoomLeft | undefined };

/** Admits one invocation, commits it, and waits for its end when asked to. */
export async function submit(
  gateway: GatewayContext,
  principal: Principal,
  sent: unknown,
  wait_ms: number,
): Promise<Answer> {
  const row = admitSent(gateway, principal, sent, null);
  const mayEnd = row.status === 'queued' || row.status === 'deferred' || (await mayBeGranted(gateway, row, wait_ms));
  const patience_ms = mayEnd ? (row.status === 'held' ? Math.min(wait_ms, GRANTED_MS) : wait_ms) : 0;
  // Before the commit: a quick tool may end before we would be back here.
  const waiting = patience_ms > 0 ? gateway.waiters.wait(row.invocation_id, patience_ms) : null;
  try {
    const committed = await gateway.committer.one(row);
    if (committed.kind === 'known') return await answerKnown(gateway, row, committed.invocation, wait_ms);
    gateway.metrics.submitted(row);
    if (row.status === 'denied') throw denial(gateway, row);
    const { created_at, room } = committed;
    return { ...answer(toInvocation(row, created_at), waiting && (await waited(waiting))), room };
  } finally {
    waiting?.cancel();
  }
}

async function waited({ ended }: Waiting): Promise<InvocationOutcome | null> {
  const began = performance.now();
  const outcome = await ended;
  noteWait(performance.now() - began, outcome?.status ?? null);
  return outcome;
}

/** Time for a grant to release it. Longer than that nobody waits for a person: the answer says who is to decide. */
const GRANTED_MS = 2000;

const mayBeGranted = async ({ store }: GatewayContext, { status, tenant }: NewInvocation, wait_ms: number) =>
  status === 'held' && wait_ms > 0 && (await hasLiveGrants(store.db, tenant));

/** The same key: the first invocation answers, unless it was another call. */
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
  return answer(known, await waitFor(gateway, known.invocation_id, wait_ms));
}

async function waitFor(
  { waiters }: GatewayContext,
  invocation_id: string,
  wait_ms: number,
): Promise<InvocationOutcome | null> {
  const waiting: Waiting = waiters.wait(invocation_id, wait_ms);
  return waiting.ended;
}

function answer(invocation: Invocation, outcome: InvocationOutcome | null): Answer {
  if (!outcome) return { status: 202, invocation };
  const { status, attempt, finished_at, result } = outcome;
  const ended = { ...invocation, status, attempt, finished_at, result };
  const decision = result && deniedAtRun(ended, result);
  return { status: 200, invocation: decision ? { ...ended, decision } : ended };
}

/** The row as every other answer shows it. */
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

/** As Postgres adds and writes it: in microseconds, which Date does not have, and without zeros at the end. */
function later(moment: string, ms: number | null | undefined): string | null {
  if (ms === null || ms === undefined) return null;
  const micros = /\.\d{3}(\d+)Z$/.exec(moment)?.[1] ?? '';
  return new Date(Date.parse(moment) + ms)
    .toISOString()
    .replace('Z', `${micros}Z`)
    .replace(/\.?0+Z$/, 'Z');
}

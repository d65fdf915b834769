import type { Artifact, InvocationStatus, Json, JsonObject, Question, RunFacts, SideEffect } from '@capstan/contracts';
import type { Claimed } from './claimed.js';

/** The call that a settlement is about, as its receipt named it. */
export type SettledCall = Pick<
  Claimed,
  'claim_id' | 'invocation_id' | 'attempt' | 'first_attempt' | 'tenant' | 'actor' | 'run_id' | 'watched'
>;

/**
 * The end of an attempt. `queued` hands the call back: a retry after backoff_ms, or at once. `held`: what was released is not
 * what would run, and `error` says why; or its tool asks a `question`. It waits for a person for expires_in_ms.
 */
export type Settlement = SettledCall & {
  status: Extract<
    InvocationStatus,
    'succeeded' | 'failed' | 'timed_out' | 'canceled' | 'ambiguous' | 'queued' | 'denied' | 'held'
  >;
  backoff_ms: number;
  expires_in_ms?: number;
  question?: Question;
  outcome: string;
  /** What the audit says of it beside its end, where its risk asks for that. */
  audit?: JsonObject;
  /** Of a denial that was found while it ran: the rule behind it. Its result is kept, because it may have begun. */
  rule?: string;
  result: SettledResult | null;
  error: string | null;
};

/** Whether the call goes on after it. */
export const isReturn = ({ status }: Settlement): boolean => status === 'queued' || status === 'held';

export type SettledResult = {
  success: boolean;
  payload: Json;
  code: number | null;
  declared_side_effects: SideEffect[];
  artifacts: Artifact[];
  facts: RunFacts | null;
  duration_ms: number;
  exit_code: number | null;
  truncated: boolean;
  input_hash: string;
  output_hash: string;
};

/** Statuses of a tool that was run and whose end is known. */
export const ENDED_WITH_RESULT: ReadonlySet<InvocationStatus> = new Set([
  'succeeded',
  'failed',
  'timed_out',
  'canceled',
]);

/** Of what was denied before it ran, or may or may not have taken effect, no result is kept. */
export const keptResult = ({ status, result, rule }: Settlement): SettledResult | null =>
  ENDED_WITH_RESULT.has(status) || rule !== undefined ? result : null;

/** The status that the invocation has by a settlement; null when it was refused. */
export type Settled = { status: InvocationStatus } | null;

import type { Artifact, InvocationStatus, Json, JsonObject, Question, RunFacts, SideEffect } from '@capstan/contracts';
import type { Claimed } from './claimed.js';

/** The call that a settlement is about, as its receipt named it. */
export type SettledCall = Pick<
  Claimed,
  'claim_id' | 'invocation_id' | 'attempt' | 'first_attempt' | 'tenant' | 'actor' | 'run_id' | 'watched'
>;

/**
 * The end of an attempt. `queued` hands the call back, to be retried after backoff_ms or at once. `held` makes it wait for a person
 * for up to expires_in_ms: either the release no longer matches what would run (`error` says why), or the tool asks a `question`.
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
  /** Additional audit detail, if the risk of the call requires it. */
  audit?: JsonObject;
  /** The rule that denied the call while it was running. Its result is kept, because the tool may have started. */
  rule?: string;
  result: SettledResult | null;
  error: string | null;
};

/** Whether the call continues afterwards. */
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

/** Statuses of a tool that ran with a known outcome. */
export const ENDED_WITH_RESULT: ReadonlySet<InvocationStatus> = new Set([
  'succeeded',
  'failed',
  'timed_out',
  'canceled',
]);

/** No result is stored for calls denied before they ran, or with an unknown outcome. */
export const keptResult = ({ status, result, rule }: Settlement): SettledResult | null =>
  ENDED_WITH_RESULT.has(status) || rule !== undefined ? result : null;

/** The status of the invocation after a settlement; null if it was refused. */
export type Settled = { status: InvocationStatus } | null;

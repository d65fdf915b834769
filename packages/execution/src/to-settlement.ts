import {
  codeOf,
  DAY_MS,
  type Decision,
  type Descriptor,
  Failure,
  type FailureName,
  isObject,
  type Json,
  type JsonObject,
  type Question,
  RunFacts,
  toJson,
} from '@capstan/contracts';
import { CanonicalJsonError, hashJson } from '@capstan/integrity';
import type { Redactor } from '@capstan/redact';
import type { RunOutcome } from '@capstan/runners';
import type { Claimed, Settlement } from '@capstan/store/claim';
import { auditDetail } from './audit-detail.js';
import { retryBackoff } from './retry-backoff.js';
import type { Running } from './running.js';
import { storableText, wellFormed } from './storable.js';
import type { WorkerContext } from './worker-context.js';

/** How an attempt ended, as seen by the worker. */
export type Finished =
  | { kind: 'ran'; outcome: RunOutcome | null; descriptor: Descriptor }
  | { kind: 'denied'; decision: Decision }
  /** The approval does not match what would run. */
  | { kind: 'returned'; why: string; expires_in_ms: number }
  | { kind: 'unstarted'; backoff_ms?: number }
  /** `started`: the runner had been called. */
  | { kind: 'broke'; error: unknown; started: boolean };

type Verdict = Pick<Settlement, 'status' | 'backoff_ms' | 'outcome' | 'expires_in_ms' | 'question'> & {
  error: string | null;
  code: number | null;
  /** Set if the refusal happened during the run. */
  rule?: string;
};

/** Redacts and hashes the outcome, and maps it to the next state of the invocation. */
export function toSettlement(
  worker: WorkerContext,
  running: Running,
  finished: Finished,
  duration_ms: number,
): Settlement {
  const { claimed } = running;
  const verdict = verdictOf(running, finished);
  const outcome = finished.kind === 'ran' ? finished.outcome : null;
  const redactor = running.redactor ?? worker.redactor;
  const { rule } = verdict;
  const output =
    rule === undefined ? (outcome?.payload ?? null) : { ...membersOf(outcome?.payload), rule_matched: rule };
  const { payload, output_hash } = hashed(redactor.json(output));
  const error = verdict.error === null ? null : storableText(redactor.error(verdict.error));
  return {
    claim_id: claimed.claim_id,
    invocation_id: claimed.invocation_id,
    attempt: claimed.attempt,
    first_attempt: claimed.first_attempt,
    tenant: claimed.tenant,
    actor: claimed.actor,
    run_id: claimed.run_id,
    watched: claimed.watched,
    status: verdict.status,
    backoff_ms: verdict.backoff_ms,
    ...(verdict.expires_in_ms === undefined ? {} : { expires_in_ms: verdict.expires_in_ms }),
    ...(verdict.question === undefined ? {} : { question: verdict.question }),
    outcome: verdict.outcome,
    ...auditedWith(claimed, finished, redactor),
    ...(rule === undefined ? {} : { rule: storableText(redactor.text(rule)) }),
    error,
    result: {
      success: verdict.status === 'succeeded',
      payload,
      code: verdict.code,
      declared_side_effects: finished.kind === 'ran' ? finished.descriptor.side_effects : [],
      artifacts: outcome?.artifacts ?? [],
      facts: outcome?.facts ? redactedFacts(outcome.facts, redactor) : null,
      duration_ms: Math.round(duration_ms * 1000) / 1000,
      exit_code: outcome?.exit_code ?? null,
      truncated: outcome?.truncated ?? false,
      input_hash: claimed.input_hash,
      output_hash,
    },
  };
}

/** The audit event of the end repeats the detail of the start, so that each can be read alone. The store adds the outcome. */
function auditedWith(claimed: Claimed, finished: Finished, redactor: Redactor): Pick<Settlement, 'audit'> {
  const detail = finished.kind === 'ran' ? auditDetail(claimed, finished.descriptor, redactor) : null;
  if (!detail) return {};
  const outcome = finished.kind === 'ran' ? finished.outcome : null;
  const error = outcome && !outcome.success ? redactor.error(outcome.error).slice(0, 500) : null;
  return {
    audit: {
      ...detail,
      ...(error === null ? {} : { error: storableText(error) }),
      sandbox: outcome?.facts?.sandbox ?? null,
    },
  };
}

function verdictOf(running: Running, finished: Finished): Verdict {
  switch (running.stopped) {
    case 'timeout':
      return timedOut(running);
    case 'cancel':
      return ended('canceled', 'CANCELED', 'canceled while running');
    case 'shutdown':
    case 'lost':
      return handBack(running);
    case null:
      return judgeOutcome(running, finished);
  }
}

function judgeOutcome(running: Running, finished: Finished): Verdict {
  if (finished.kind === 'unstarted') return { ...UNSTARTED, backoff_ms: finished.backoff_ms ?? UNSTARTED.backoff_ms };
  if (finished.kind === 'denied')
    return ended('denied', 'POLICY_CHANGED', `denied right before the run: ${finished.decision.reason}`);
  if (finished.kind === 'returned') {
    const { why, expires_in_ms } = finished;
    return { status: 'held', backoff_ms: 0, expires_in_ms, outcome: 'handed_back', error: why, code: null };
  }
  if (finished.kind === 'broke') return judgeFault(running, finished);
  const { outcome } = finished;
  if (outcome === null) return failed(running, 'RUNNER_FAILED', 'the runner did not stop', false);
  if (!outcome.success && outcome.asks) return asked(outcome.asks, outcome.error);
  if (outcome.success) return { status: 'succeeded', backoff_ms: 0, outcome: 'succeeded', error: null, code: null };
  if (REFUSALS.has(outcome.kind))
    return {
      ...ended('denied', outcome.kind, outcome.error),
      rule: outcome.rule ?? RULES[outcome.kind] ?? outcome.kind,
    };
  return outcome.kind === 'OUTCOME_UNKNOWN'
    ? leftOpen(running, outcome.kind, outcome.error)
    : failed(running, outcome.kind, outcome.error, outcome.retryable);
}

/** Violations that only appear when a file is opened, a host resolved or a redirect followed count as denials. */
const REFUSALS: ReadonlySet<FailureName> = new Set<FailureName>([
  'POLICY_DENIED',
  'EGRESS_DENIED',
  'SHELL_NOT_GRANTED',
  'PATH_DENIED',
  'WRITE_NOT_GRANTED',
  'ARGUMENTS_NOT_ALLOWED',
  'SECRET_NOT_GRANTED',
]);
const RULES: Partial<Record<FailureName, string>> = {
  EGRESS_DENIED: 'network',
  SECRET_NOT_GRANTED: 'secret',
  WRITE_NOT_GRANTED: 'limits.write',
};

const membersOf = (payload: Json | undefined): JsonObject => (isObject(payload) ? payload : {});

/** How long a question waits for its answer. */
const QUESTION_MS = DAY_MS;

const asked = (question: Question, error: string): Verdict => ({
  ...{ status: 'held', backoff_ms: 0, expires_in_ms: QUESTION_MS, outcome: 'handed_back', error, code: null, question },
});

/** After an unexpected error, it is unknown whether the tool took effect. */
function judgeFault(running: Running, { error, started }: Extract<Finished, { kind: 'broke' }>): Verdict {
  if (error instanceof Failure)
    return REFUSALS.has(error.kind)
      ? { ...ended('denied', error.kind, error.message), rule: RULES[error.kind] ?? error.kind }
      : failed(running, error.kind, error.message, error.retryable);
  return started
    ? leftOpen(running, 'RUNNER_FAILED', message(error))
    : failed(running, 'RUNNER_FAILED', message(error), true);
}

/** The tool may have taken effect: retry only idempotent calls. */
const leftOpen = (running: Running, kind: FailureName, error: string): Verdict =>
  running.claimed.idempotent || retriesAnything(running.claimed) ? failed(running, kind, error, true) : unknown(error);

function failed({ claimed }: Running, kind: FailureName, error: string, retryable: boolean): Verdict {
  return retryable || retriesAnything(claimed)
    ? (retry(claimed, kind, error) ?? ended('failed', kind, error))
    : ended('failed', kind, error);
}

function timedOut(running: Running): Verdict {
  const error = `[TIMEOUT after ${seconds(running)}s]`;
  const again = retriesAnything(running.claimed) ? retry(running.claimed, 'TOOL_TIMEOUT', error) : null;
  return again ?? ended('timed_out', 'TOOL_TIMEOUT', error);
}

/** The plan step asks for retries explicitly. */
const retriesAnything = ({ retry_backoff_ms }: Claimed): boolean => typeof retry_backoff_ms === 'number';

function retry(claimed: Claimed, kind: FailureName, error: string): Verdict | null {
  const tries = claimed.attempt - claimed.first_attempt + 1;
  if (tries >= claimed.max_attempts) return null;
  const backoff_ms = retryBackoff(tries, Math.random, claimed.retry_backoff_ms ?? undefined);
  return { status: 'queued', backoff_ms, outcome: 'failed', error, code: codeOf(kind) };
}

const ended = (status: 'failed' | 'timed_out' | 'canceled' | 'denied', kind: FailureName, error: string): Verdict => ({
  status,
  backoff_ms: 0,
  outcome: status,
  error,
  code: codeOf(kind),
});

/** The tool never started, so any worker may run it. The backoff marks the row as waiting, so the coordinator can deliver it. */
const UNSTARTED: Verdict = {
  status: 'queued',
  backoff_ms: 1,
  outcome: 'handed_back',
  error: 'claimed, but not started',
  code: null,
};

/** A person must find out whether it took effect. */
const unknown = (error: string): Verdict => ({
  status: 'ambiguous',
  backoff_ms: 0,
  outcome: 'ambiguous',
  error,
  code: codeOf('OUTCOME_UNKNOWN'),
});

/** A stopped tool may have taken effect: only an idempotent one moves to another worker automatically. */
const handBack = ({ claimed, repeatable }: Running): Verdict => {
  const ambiguous = unknown('the worker was shut down during the run');
  // The backoff marks the row as waiting, so the coordinator delivers it if this worker exits first.
  return claimed.idempotent || repeatable
    ? { ...ambiguous, status: 'queued', backoff_ms: 1, outcome: 'handed_back' }
    : ambiguous;
};

function hashed(payload: Json): { payload: Json; output_hash: string } {
  try {
    return { payload, output_hash: hashJson(payload) };
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    const mended = wellFormed(payload);
    return { payload: mended, output_hash: hashJson(mended) };
  }
}

/** Observed paths and domains may contain secrets too. */
const redactedFacts = (facts: RunFacts, redactor: Redactor): RunFacts | null =>
  RunFacts.safeParse(redactor.json(toJson(facts))).data ?? null;

const seconds = ({ claimed }: Running) => Math.round(claimed.timeout_ms / 100) / 10;
const message = (error: unknown) => (error instanceof Error ? error.message : String(error));

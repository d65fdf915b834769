import type { AppCall, AppResult, Artifact, LogStream } from '@capstan/contracts';
import { NotStarted, type Running, TakenElsewhere } from '@capstan/execution';
import { LiveRedactor, type Redactor } from '@capstan/redact';
import type { Call, RunOutcome } from '@capstan/runners';
import type { Claimed, Settled } from '@capstan/store/claim';

/** One attempt of an invocation. */
export type CallId = { invocation_id: string; attempt: number };

export const nameOf = ({ invocation_id, attempt }: CallId): string => `${invocation_id} ${attempt}`;

/** A call that a pool worker has, or that waits to be delivered to it. */
export class LiveCall {
  readonly claimed: Claimed;
  /** Another gateway handed it to the worker. */
  readonly started_elsewhere: boolean;
  /** Files uploaded so far. */
  readonly artifacts: Artifact[] = [];
  /** What is sent to the worker; null until the pipeline lets the call start. */
  message: AppCall | null = null;
  delivered: boolean;
  /** The pipeline has finished, and the result is being written. */
  settling = false;
  /** The worker has settled it, or does not own it any more. */
  ended = false;
  /** The names of the secrets that it was given and that its redactor knows, or will know once it begins. */
  readonly secrets = new Set<string>();
  #learnt: string[] = [];
  #redactor: Redactor | null = null;
  #log_room: number | null = null;
  /** On the clock of `performance.now()`. */
  deadline = Number.POSITIVE_INFINITY;
  running: Running | null = null;
  /** The call as the pipeline hands it to a runner, with its ports for log lines, files and secrets. */
  readonly call: Promise<Call>;
  #ready: (call: Call) => void = () => {};
  /** How it was settled; null if it was refused or is settled elsewhere. */
  readonly settled: Promise<Settled>;
  #settle: (settled: Settled | Promise<Settled>) => void = () => {};
  #end: ((outcome: RunOutcome) => void) | null = null;
  #fail: ((error: Error) => void) | null = null;
  /** An end that came before the pipeline reached the call. */
  #early_end: (() => void) | null = null;

  constructor(claimed: Claimed, started_elsewhere: boolean) {
    this.claimed = claimed;
    this.started_elsewhere = started_elsewhere;
    this.delivered = started_elsewhere;
    this.call = new Promise((resolve) => {
      this.#ready = resolve;
    });
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Called when the pipeline lets the call start. Resolves when the worker has settled it. */
  begin(call: Call): Promise<RunOutcome> {
    this.#redactor = call.redact;
    for (const value of this.#learnt) this.#redact(value);
    this.#ready(call);
    return new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
      this.#early_end?.();
    });
  }

  /** The call was given this secret at another gateway. */
  learn(name: string, value: string): void {
    this.secrets.add(name);
    if (this.#redactor) this.#redact(value);
    else this.#learnt.push(value);
  }

  /** Writes redacted output to the log, up to the call's output limit. Each gateway counts what went through it. */
  log(call: Call, stream: LogStream, text: string): void {
    this.#log_room ??= call.limits.max_output_bytes;
    if (this.#log_room <= 0) return;
    this.#log_room -= Buffer.byteLength(text);
    call.log(stream, this.#log_room > 0 ? text : '[the rest of the log is left out]\n');
  }

  /** Files that may have been uploaded at another gateway. */
  addArtifacts(all: readonly Artifact[]): void {
    for (const one of all)
      if (!this.artifacts.some(({ sha256, name }) => sha256 === one.sha256 && name === one.name))
        this.artifacts.push(one);
  }

  #redact(value: string): void {
    if (this.#redactor instanceof LiveRedactor) this.#redactor.learn(value);
  }

  settle(settled: Settled | Promise<Settled>): void {
    this.#settle(settled);
  }

  /** It never started, so another worker may run it. */
  giveBack(why: string): void {
    this.#whenBegun(() => this.#fail?.(new NotStarted(why)));
  }

  /** The worker does not own it any more, or another gateway has settled it. */
  drop(): void {
    this.#whenBegun(() => this.#fail?.(new TakenElsewhere()));
    this.#settle(null);
  }

  end(result: AppResult): void {
    this.#whenBegun(() => {
      if (result.status === 'returned') return this.#fail?.(new NotStarted('its worker gave it back'));
      if (result.status === 'stopped') this.running?.stop(performance.now() >= this.deadline ? 'timeout' : 'shutdown');
      this.#end?.(toOutcome(result, this.artifacts));
    });
  }

  /** The end of a call that started elsewhere may arrive before the pipeline here has reached the call. */
  #whenBegun(act: () => void): void {
    this.ended = true;
    if (this.#end) act();
    else this.#early_end = act;
  }
}

/** The message that hands a call to its worker. */
export const toAppCall = (claimed: Claimed, { inputs, limits, traceparent }: Call): AppCall => ({
  invocation_id: claimed.invocation_id,
  attempt: claimed.attempt,
  tool_id: claimed.tool_id,
  inputs,
  tenant: claimed.tenant,
  actor: claimed.actor,
  session_id: claimed.session_id,
  idempotency_key: claimed.invocation_id,
  deadline_at: new Date(Date.now() + limits.timeout_ms).toISOString(),
  timeout_ms: limits.timeout_ms,
  traceparent: traceparent ?? null,
});

function toOutcome(result: AppResult, artifacts: Artifact[]): RunOutcome {
  switch (result.status) {
    case 'succeeded':
      return { success: true, payload: result.payload, artifacts };
    case 'failed':
      return {
        success: false,
        kind: 'TOOL_ERROR',
        error: result.error,
        retryable: result.retryable ?? false,
        artifacts,
      };
    case 'unknown':
      return { success: false, kind: 'OUTCOME_UNKNOWN', error: result.error, retryable: false, artifacts };
    case 'stopped':
    case 'returned':
      return { success: false, kind: 'TOOL_ERROR', error: 'it was stopped', retryable: false, artifacts };
  }
}

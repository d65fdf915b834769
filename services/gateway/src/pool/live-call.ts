import type { AppCall, AppResult, Artifact } from '@capstan/contracts';
import { NotStarted, type Running, TakenElsewhere } from '@capstan/execution';
import { LiveRedactor } from '@capstan/redact';
import type { Call, RunOutcome } from '@capstan/runners';
import type { Claimed, Settled } from '@capstan/store';

/** A call that a worker of a pool has, or is about to be told of. */
export class LiveCall {
  readonly claimed: Claimed;
  /** Files that it has left so far. */
  readonly artifacts: Artifact[] = [];
  /** What its worker is told; null until it may begin. */
  message: AppCall | null = null;
  delivered = false;
  /** The pipeline has done its part, and the result is about to be written. */
  settling = false;
  /** Its worker has settled it, or it is not its worker's any more. */
  ended = false;
  /** Secrets that it was given before this gateway took it up. */
  readonly secrets: string[] = [];
  /** When its deadline passes, by the clock of `performance.now()`. */
  deadline = Number.POSITIVE_INFINITY;
  running: Running | null = null;
  /** The call as the pipeline hands it to a runner: how its lines, files and secrets are kept. */
  readonly call: Promise<Call>;
  #ready: (call: Call) => void = () => {};
  /** What became of it; null when it was refused or is settled elsewhere. */
  readonly settled: Promise<Settled>;
  #settle: (settled: Settled | Promise<Settled>) => void = () => {};
  #end: ((outcome: RunOutcome) => void) | null = null;
  #fail: ((error: Error) => void) | null = null;
  #ended: (() => void) | null = null;

  constructor(claimed: Claimed) {
    this.claimed = claimed;
    this.call = new Promise((resolve) => {
      this.#ready = resolve;
    });
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** The pipeline has let it begin. Resolves when its worker has settled it. */
  begin(call: Call): Promise<RunOutcome> {
    for (const value of this.secrets) if (call.redact instanceof LiveRedactor) call.redact.learn(value);
    this.#ready(call);
    return new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
      this.#ended?.();
    });
  }

  settle(settled: Settled | Promise<Settled>): void {
    this.#settle(settled);
  }

  /** It was never begun: another worker may. */
  giveBack(why: string): void {
    this.#once(() => this.#fail?.(new NotStarted(why)));
  }

  /** It is not this worker's any more, or another gateway has settled it. */
  drop(): void {
    this.#once(() => this.#fail?.(new TakenElsewhere()));
    this.#settle(null);
  }

  end(result: AppResult): void {
    this.#once(() => {
      if (result.status === 'returned') return this.#fail?.(new NotStarted('its worker gave it back'));
      if (result.status === 'stopped') this.running?.stop(performance.now() >= this.deadline ? 'timeout' : 'shutdown');
      this.#end?.(toOutcome(result, this.artifacts));
    });
  }

  /** A result may come before the pipeline has got to the call, where this gateway did not see its beginning. */
  #once(act: () => void): void {
    this.ended = true;
    if (this.#end) act();
    else this.#ended = act;
  }
}

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

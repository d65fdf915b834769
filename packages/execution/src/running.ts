import type { Redactor } from '@capstan/redact';
import type { Claimed } from '@capstan/store/claim';
import { type AttemptTrace, traceAttempt } from './trace-attempt.js';

/** Why a tool is stopped. `lost`: the lease expired, so its result would be refused. */
export type StopReason = 'timeout' | 'cancel' | 'shutdown' | 'lost';

/**
 * A running invocation. The abort signal is created when a runner first asks for it: tools that finish within one turn of the event
 * loop never do, and creating one for each would cost more than running them.
 */
export class Running {
  readonly claimed: Claimed;
  /** Null if tracing is off. */
  readonly trace: AttemptTrace | null;
  stopped: StopReason | null = null;
  /** Knows the secrets that this call has asked for; null before its tool is started. */
  redactor: Redactor | null = null;
  /** Whether it can resume from its checkpoint without repeating an effect. */
  repeatable = false;
  #controller: AbortController | null = null;
  #onStop: (() => void)[] = [];

  constructor(claimed: Claimed) {
    this.claimed = claimed;
    this.trace = traceAttempt(claimed);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.stopped) this.#controller.abort(this.stopped);
    return this.#controller.signal;
  }

  /** The first reason wins. */
  stop(reason: StopReason): void {
    if (this.stopped) return;
    this.stopped = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#onStop) listener();
  }

  onStop(listener: () => void): void {
    this.#onStop.push(listener);
    if (this.stopped) listener();
  }
}

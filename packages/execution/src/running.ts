import type { Redactor } from '@capstan/redact';
import type { Claimed } from '@capstan/store';
import { type AttemptTrace, traceAttempt } from './trace-attempt.js';

/** Why a tool is stopped. `lost`: the lease ended, so whatever it returns will be refused. */
export type StopReason = 'timeout' | 'cancel' | 'shutdown' | 'lost';

/**
 * An invocation under way. The abort signal is made when a runner first asks for it: tools that finish within one turn
 * of the event loop never do, and making one for each costs more than running them.
 */
export class Running {
  readonly claimed: Claimed;
  /** Null where traces are not sent. */
  readonly trace: AttemptTrace | null;
  stopped: StopReason | null = null;
  /** Knows the secrets that this call has asked for; null before its tool is started. */
  redactor: Redactor | null = null;
  /** It can be gone on with from its checkpoint without a second effect. */
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

  /** The first reason counts. */
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

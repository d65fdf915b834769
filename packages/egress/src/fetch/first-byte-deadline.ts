import { Failure } from '@capstan/contracts';

export type Deadline = { signal: AbortSignal; met(): void };

/** Aborts when nothing has come in time; once it is met, only the caller's own signal still does. */
export function firstByteDeadline(timeout_ms: number, caller: AbortSignal | undefined): Deadline {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooLate(timeout_ms)), timeout_ms);
  return {
    signal: caller ? AbortSignal.any([caller, late.signal]) : late.signal,
    met: () => clearTimeout(timer),
  };
}

const tooLate = (timeout_ms: number) =>
  new Failure('EGRESS_FAILED', {
    detail: `server did not respond within ${seconds(timeout_ms)}`,
    context: { phase: 'first_byte' },
  });

const seconds = (ms: number) => (ms === 1000 ? '1 second' : `${ms / 1000} seconds`);

import type { InvocationStatus } from '@capstan/contracts';

/** What a script sees. 130 is what a shell expects of a command that Ctrl-C ended. */
export const EXIT = {
  success: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  held: 4,
  timed_out: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const BY_STATUS: Record<InvocationStatus, ExitCode> = {
  succeeded: EXIT.success,
  failed: EXIT.failed,
  canceled: EXIT.failed,
  ambiguous: EXIT.failed,
  denied: EXIT.denied,
  rejected: EXIT.denied,
  held: EXIT.held,
  timed_out: EXIT.timed_out,
  expired: EXIT.timed_out,
  // Still on its way when the wait was over.
  deferred: EXIT.timed_out,
  queued: EXIT.timed_out,
  running: EXIT.timed_out,
};

export const exitCodeOf = (status: InvocationStatus): ExitCode => BY_STATUS[status];

/** Of a decision about a call that was not sent. */
export const EXIT_OF_EFFECT = { allow: EXIT.success, hold: EXIT.held, deny: EXIT.denied } as const;

/** One code for many outcomes: the one that most needs a look. */
const GRAVITY = [EXIT.failed, EXIT.timed_out, EXIT.denied, EXIT.held, EXIT.success] as const;
export const gravest = (codes: ReadonlySet<ExitCode>): ExitCode =>
  GRAVITY.find((code) => codes.has(code)) ?? EXIT.success;

/** A problem of the gateway, by its HTTP status. */
export const exitCodeOfProblem = (status: number): ExitCode => {
  switch (status) {
    case 401:
    case 403:
    case 429:
      return EXIT.denied;
    case 400:
    case 413:
    case 415:
    case 422:
      return EXIT.usage;
    case 504:
      return EXIT.timed_out;
    default:
      return EXIT.failed;
  }
};

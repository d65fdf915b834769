import type { InvocationStatus } from '@capstan/contracts';

/** 130 is the shell convention for a command ended by Ctrl-C. */
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
  // Still deferred when the wait ended.
  deferred: EXIT.timed_out,
  queued: EXIT.timed_out,
  running: EXIT.timed_out,
};

export const exitCodeOf = (status: InvocationStatus): ExitCode => BY_STATUS[status];

/** For commands that only ask for a decision. */
export const EXIT_OF_EFFECT = { allow: EXIT.success, hold: EXIT.held, deny: EXIT.denied } as const;

/** One code for many outcomes: the most serious one. */
const GRAVITY = [EXIT.failed, EXIT.timed_out, EXIT.denied, EXIT.held, EXIT.success] as const;
export const gravest = (codes: ReadonlySet<ExitCode>): ExitCode =>
  GRAVITY.find((code) => codes.has(code)) ?? EXIT.success;

/** The exit code for an error response of the gateway, by HTTP status. */
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

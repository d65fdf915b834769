import type { InvocationStatus, TerminalStatus } from '@capstan/contracts';

/** The compiler holds this to the contract's list; importing the list itself would load zod, 100 ms, for eight words. */
const TERMINAL: Record<TerminalStatus, true> = {
  denied: true,
  succeeded: true,
  failed: true,
  timed_out: true,
  canceled: true,
  ambiguous: true,
  rejected: true,
  expired: true,
};

/** Nothing more happens to it unless a person redrives or resolves it. */
export const isTerminal = (status: InvocationStatus): status is TerminalStatus => Object.hasOwn(TERMINAL, status);

import type { InvocationStatus, TerminalStatus } from '@capstan/contracts';

/** The compiler checks this against the list in contracts. Importing that list would load zod, which takes 100 ms. */
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

/** True if nothing more happens unless a person redrives or resolves the call. */
export const isTerminal = (status: InvocationStatus): status is TerminalStatus => Object.hasOwn(TERMINAL, status);

import { z } from 'zod';

export const InvocationStatus = z.enum([
  'denied',
  'held',
  'deferred',
  'queued',
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'canceled',
  'ambiguous',
  'rejected',
  'expired',
]);
export type InvocationStatus = z.infer<typeof InvocationStatus>;

/**
 * The legal transitions. Each storage operation lists the statuses it moves from in its WHERE clause, and the store's tests check
 * all of them against this table.
 *
 * - `running → queued` is a retry, a hand-back by a draining worker, or a rescue of idempotent work.
 * - `running → held` is a release that no longer matches what would run, so the hold must be decided again.
 * - Terminal → `queued` is a redrive by a person; `deferred` if it has to wait for a quota again.
 * - `ambiguous` is terminal until a person resolves it.
 */
const NEXT = {
  denied: [],
  held: ['queued', 'deferred', 'denied', 'rejected', 'expired', 'canceled'],
  deferred: ['queued', 'expired', 'canceled'],
  queued: ['running', 'expired', 'canceled', 'failed'],
  running: ['succeeded', 'failed', 'timed_out', 'canceled', 'ambiguous', 'queued', 'denied', 'held'],
  succeeded: [],
  failed: ['queued', 'deferred'],
  timed_out: ['queued', 'deferred'],
  canceled: [],
  ambiguous: ['succeeded', 'failed', 'queued', 'deferred'],
  rejected: [],
  expired: [],
} as const satisfies Record<InvocationStatus, readonly InvocationStatus[]>;

/** All statuses from which `to` can be reached. */
export const statusesBefore = (to: InvocationStatus): InvocationStatus[] =>
  InvocationStatus.options.filter((from) => canMove(from, to));

export const canMove = (from: InvocationStatus, to: InvocationStatus): boolean =>
  (NEXT[from] as readonly InvocationStatus[]).includes(to);

export const TERMINAL_STATUSES = [
  'denied',
  'succeeded',
  'failed',
  'timed_out',
  'canceled',
  'ambiguous',
  'rejected',
  'expired',
] as const satisfies readonly InvocationStatus[];
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

const terminal: ReadonlySet<InvocationStatus> = new Set(TERMINAL_STATUSES);
export const isTerminal = (status: InvocationStatus): status is TerminalStatus => terminal.has(status);

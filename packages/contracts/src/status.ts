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
 * The legal moves. Each storage operation names in its WHERE clause the statuses it moves from; the store's tests hold
 * every one of them against this table.
 *
 * - `running → queued` is a retry, a hand-back by a draining worker, or a rescue of idempotent work.
 * - `running → held` is a hold that was released for something else than would run now: it is to be decided again.
 * - Terminal → `queued` is a redrive, asked for by a person; `deferred` where it has to wait for a quota again.
 * - `ambiguous` is terminal until a person says what happened.
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

/** Every status from which `to` may be reached. */
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

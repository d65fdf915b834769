import type { QueueName } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import type { Readied } from '@capstan/store/claim';
import type { HandOver, NewInvocation } from '@capstan/store/invocation';

/** How calls about to be committed reach a worker: some with the commit, the others through `work`. */
export type Plan = {
  /** Receipts to be written with the calls. */
  hand_over: HandOver[];
  /** Sent by the statement as it commits. */
  signals: string[];
  /** Call after the commit, with the receipts that were written. */
  committed(handed: readonly string[]): void;
};

/** The only path from a commit to a worker, for gateways, plans and schedules. */
export type Dispatcher = {
  plan(rows: readonly NewInvocation[]): Plan;
  /** Calls of these runner types have become ready in Postgres. */
  wake(runners: readonly QueueName[]): void;
  /** A call of this runner type becomes ready after this time. If this process ends first, a sweep finds it. */
  wakeAfter(runner: QueueName, ms: number): void;
  /** Resolves when all committed calls have been handed over. */
  idle(): Promise<void>;
  close(): void;
};

/**
 * Only calls that certainly need not wait: a call with an idempotency key may turn out to exist, and calls that expire or are
 * under a quota are counted in `work`.
 */
export const mayBeHandedOver = (row: NewInvocation): boolean =>
  row.status === 'queued' &&
  row.idempotency_key === null &&
  row.expires_in_ms === null &&
  row.quota_scopes === undefined;

/** Signals that work is ready, now or after a delay. */
export function openWaker(relay: Relay): Pick<Dispatcher, 'wake' | 'wakeAfter' | 'close'> {
  const timers = new Set<NodeJS.Timeout>();
  const wake = (runners: readonly QueueName[]) => relay.publish('ready', runners);
  return {
    wake,
    wakeAfter: (runner, ms) => {
      if (ms <= 0) return wake([runner]);
      const timer = setTimeout(() => {
        timers.delete(timer);
        wake([runner]);
      }, ms + 1);
      timers.add(timer);
    },
    close: () => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Signals waiting calls, in the committing statement if possible. */
export function sayReady(relay: Relay, runners: readonly QueueName[]): { signals: string[]; afterwards(): void } {
  const unique = [...new Set(runners)];
  if (unique.length === 0) return { signals: [], afterwards: () => {} };
  const signals = relay.riding('ready', unique);
  return { signals: signals ?? [], afterwards: () => signals ?? relay.publish('ready', unique) };
}

/** These calls now wait only for a worker. */
export function tellReady(
  { relay, dispatcher }: { relay: Relay; dispatcher: Pick<Dispatcher, 'wake'> },
  { ids, ready }: Readied,
): void {
  relay.publish('changed', ids);
  dispatcher.wake(ready);
}

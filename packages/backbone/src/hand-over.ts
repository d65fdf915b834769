import type { QueueName } from '@capstan/contracts';
import type { Relay } from '@capstan/queue';
import type { HandOver, NewInvocation, Readied } from '@capstan/store';

/** How calls that are about to be committed get to a worker: some with the commit, the others wait in `work`. */
export type Plan = {
  /** Receipts to be written with the calls. */
  hand_over: HandOver[];
  /** Sent by the statement as it commits. */
  signals: string[];
  /** To be called once all of it is committed, with the receipts that were written. */
  committed(handed: readonly string[]): void;
};

/** The one way from a commit to a worker, for gateways, plans and schedules. */
export type Dispatcher = {
  plan(rows: readonly NewInvocation[]): Plan;
  /** Calls of these runner types have become ready in Postgres. */
  wake(runners: readonly QueueName[]): void;
  /** A call of this runner type becomes ready after so long. Should this process end first, sweeps find it. */
  wakeAfter(runner: QueueName, ms: number): void;
  /** Resolves when all has been handed over that was committed. */
  idle(): Promise<void>;
  close(): void;
};

/**
 * Only what surely waits for nothing: a call whose idempotency key may be known is not inserted after all, one that expires
 * or comes under a quota is counted where it waits.
 */
export const mayBeHandedOver = (row: NewInvocation): boolean =>
  row.status === 'queued' &&
  row.idempotency_key === null &&
  row.expires_in_ms === null &&
  row.quota_scopes === undefined;

/** Wake-up calls, now and later. */
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

/** Says that calls wait, with the commit where signals can ride on it. */
export function sayReady(relay: Relay, runners: readonly QueueName[]): { signals: string[]; afterwards(): void } {
  const unique = [...new Set(runners)];
  if (unique.length === 0) return { signals: [], afterwards: () => {} };
  const signals = relay.riding('ready', unique);
  return { signals: signals ?? [], afterwards: () => signals ?? relay.publish('ready', unique) };
}

/** Calls that waited for something else wait for a worker now. */
export function tellReady(
  { relay, dispatcher }: { relay: Relay; dispatcher: Pick<Dispatcher, 'wake'> },
  { ids, ready }: Readied,
): void {
  relay.publish('changed', ids);
  dispatcher.wake(ready);
}

import type { Relay, Topic } from '@capstan/queue';

/** Wakes the event streams of tenants when something may have changed. Changes without a signal are found by polling. */
export type Activity = {
  /** Resolves at the next signal, or after `timeout_ms`, or when `signal` aborts. */
  next(timeout_ms: number, signal: AbortSignal): Promise<void>;
};

/** Not `settled`: it comes with every call that ends, and would make each console poll all the time. */
const HEARD: Topic[] = ['changed', 'due', 'refresh', 'cancel'];

export function createActivity(relay: Relay): Activity {
  const waiting = new Set<() => void>();
  const tell = () => {
    for (const wake of waiting) wake();
  };
  for (const topic of HEARD) relay.subscribe(topic, tell);
  return {
    next: (timeout_ms, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, timeout_ms);
        signal.addEventListener('abort', wake);
        waiting.add(wake);
        if (signal.aborted) wake();
      }),
  };
}

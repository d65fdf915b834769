import type { Relay, Topic } from '@capstan/queue';
import type { Endings } from './endings.js';

/** Wakes the event streams of an invocation in this process when it changes. */
export type Changes = {
  /** Resolves at the next change, or after `timeout_ms` (signals may be lost), or when `signal` aborts. */
  next(invocation_id: string, timeout_ms: number, signal: AbortSignal): Promise<void>;
};

const HEARD: Topic[] = ['settled', 'changed', 'log'];

export function createChanges(relay: Relay, endings: Endings): Changes {
  const followers = new Map<string, Set<() => void>>();
  const tell = (ids: string[]) => {
    for (const id of ids) for (const wake of followers.get(id) ?? []) wake();
  };
  for (const topic of HEARD) relay.subscribe(topic, tell);
  endings.subscribe(
    () => followers.size > 0,
    ({ invocation_id }) => tell([invocation_id]),
  );
  return {
    next: (invocation_id, timeout_ms, signal) =>
      new Promise((resolve) => {
        const wakes = followers.get(invocation_id) ?? new Set();
        const wake = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          wakes.delete(wake);
          if (wakes.size === 0) followers.delete(invocation_id);
          resolve();
        };
        const timer = setTimeout(wake, timeout_ms);
        signal.addEventListener('abort', wake);
        wakes.add(wake);
        followers.set(invocation_id, wakes);
        if (signal.aborted) wake();
      }),
  };
}

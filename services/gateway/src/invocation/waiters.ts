import type { Relay } from '@capstan/queue';
import { groupCommit, type Store } from '@capstan/store';
import { type InvocationOutcome, loadOutcomes } from '@capstan/store/invocation';
import type { Endings } from '../event/endings.js';

/** Requests in this process that wait for invocations to end. */
export type Waiters = {
  /** Null if `timeout_ms` passes first. Start waiting before the invocation can end, or its signal may be missed. */
  wait(invocation_id: string, timeout_ms: number): Waiting;
  count(): number;
  /** Limits all current and later waits to this time. */
  close(patience_ms: number): void;
};
export type Waiting = { ended: Promise<InvocationOutcome | null>; cancel(): void };

/** Covers lost signals. */
const LOOK_MS = 1000;
const MAX_LOAD = 500;

export function createWaiters(store: Store, relay: Relay, endings: Endings): Waiters {
  const waiting = new Map<string, Set<(outcome: InvocationOutcome | null) => void>>();

  const load = groupCommit<string, InvocationOutcome | null>({
    write: async (ids) => {
      const outcomes = new Map((await loadOutcomes(store, ids)).map((outcome) => [outcome.invocation_id, outcome]));
      return ids.map((id) => outcomes.get(id) ?? null);
    },
    max_batch: MAX_LOAD,
    max_waiting: Number.POSITIVE_INFINITY,
    isolate: () => false,
  });
  const look = async (id: string) => {
    const outcome = await load(id);
    if (outcome) tell(outcome);
  };
  const tell = (outcome: InvocationOutcome) => {
    for (const hear of [...(waiting.get(outcome.invocation_id) ?? [])]) hear(outcome);
  };
  // A failed lookup is repeated at the next interval.
  const lookAt = (ids: Iterable<string>) => {
    for (const id of ids) if (waiting.has(id)) look(id).catch(() => {});
  };
  relay.subscribe('settled', lookAt);
  endings.subscribe(() => waiting.size > 0, tell);
  let most_ms = Number.POSITIVE_INFINITY;
  let backstop: NodeJS.Timeout | undefined;
  const rest = () => {
    clearInterval(backstop);
    backstop = undefined;
  };
  const lookAgain = () => {
    if (waiting.size === 0) rest();
    else lookAt(waiting.keys());
  };

  return {
    wait: (invocation_id, timeout_ms) => {
      let cancel = () => {};
      const ended = new Promise<InvocationOutcome | null>((resolve) => {
        const tell = (outcome: InvocationOutcome | null) => {
          clearTimeout(timer);
          const others = waiting.get(invocation_id);
          others?.delete(tell);
          if (others?.size === 0) waiting.delete(invocation_id);
          resolve(outcome);
        };
        cancel = () => tell(null);
        const timer = setTimeout(cancel, Math.min(timeout_ms, most_ms));
        const others = waiting.get(invocation_id);
        if (others) others.add(tell);
        else waiting.set(invocation_id, new Set([tell]));
        backstop ??= setInterval(lookAgain, LOOK_MS).unref();
      });
      return { ended, cancel };
    },
    count: () => waiting.size,
    close: (patience_ms) => {
      most_ms = patience_ms;
      const waited = [...waiting.values()].flatMap((tells) => [...tells]);
      setTimeout(() => {
        rest();
        for (const tell of waited) tell(null);
      }, patience_ms);
    },
  };
}

import { Failure } from '@capstan/contracts';

/** Does work of many tenants, each of which has one turn at a time: what one of them sends delays only its own. */
export type Turns = { take<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> };

/** `at_once` turns in all, and at most `most_waiting` of one tenant that wait for theirs. */
export function createTurns(at_once: number, most_waiting: number): Turns {
  /** Those who have work, the one who waits longest first. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  const busy = new Set<string>();

  /** Whoever had a turn waits behind all others for the next. */
  const goBehind = (tenant: string): void => {
    const queue = waiting.get(tenant);
    if (queue === undefined) return;
    waiting.delete(tenant);
    waiting.set(tenant, queue);
  };
  const next = (): void => {
    for (const [tenant, queue] of waiting) {
      if (busy.size >= at_once) return;
      const work = busy.has(tenant) ? undefined : queue.shift();
      if (work === undefined) continue;
      if (queue.length === 0) waiting.delete(tenant);
      busy.add(tenant);
      void work().finally(() => {
        busy.delete(tenant);
        goBehind(tenant);
        next();
      });
    }
  };

  return {
    take: (tenant, work) => {
      const queue = waiting.get(tenant) ?? [];
      if (queue.length >= most_waiting)
        throw new Failure('OVERLOADED', {
          detail: `${most_waiting} documents of this tenant wait to be read already.`,
        });
      return new Promise((resolve, reject) => {
        queue.push(() => work().then(resolve, reject));
        waiting.set(tenant, queue);
        next();
      });
    },
  };
}

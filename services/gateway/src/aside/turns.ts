import { Failure } from '@capstan/contracts';

/** A fair queue: each tenant runs one task at a time, so that much work of one tenant delays only that tenant. */
export type Turns = { take<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> };

/** Runs up to `at_once` tasks at a time in all, and lets up to `most_waiting` of each tenant wait. */
export function createTurns(at_once: number, most_waiting: number): Turns {
  /** Waiting tasks by tenant, in order of whose turn is next. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  const busy = new Set<string>();

  /** Moves a tenant to the end of the line. */
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
          detail: `${most_waiting} documents of this tenant are waiting to be parsed already.`,
        });
      return new Promise((resolve, reject) => {
        queue.push(() => work().then(resolve, reject));
        waiting.set(tenant, queue);
        next();
      });
    },
  };
}

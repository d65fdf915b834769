import type { Start } from './queue.js';

/** Short calls end before the next delivery would arrive, so several may wait for each slot. */
const SHORT_PER_SLOT = 4;

/** Limits how many calls run at once, across all sources of calls. */
export type Slots = {
  /** Runs these in order as slots become free. Resolves when the last one ends. */
  run(starts: readonly Start[]): Promise<void>;
  /** Slots that are neither in use nor waited for. */
  free(): number;
  /** Calls that wait for a slot. */
  waiting(): number;
  /** How many more may be handed over now: short calls may wait here, several for each slot. */
  room(): number;
  /** Starts everything that waits, beyond the limit, so that the worker can return it. */
  open(): void;
};

/** `onFree` is called when slots become free, once for each turn of the event loop. */
export function openSlots(size: number, onFree: () => void = () => {}, { short = false } = {}): Slots {
  const most = short ? size * SHORT_PER_SLOT : size;
  let limit = size;
  let taken = 0;
  let telling = false;
  const line: { start: Start; done: () => void }[] = [];

  const next = () => {
    while (taken < limit) {
      const one = line.shift();
      if (!one) break;
      taken += 1;
      one.start().then(
        () => end(one.done),
        () => end(one.done),
      );
    }
  };
  const tellFree = () => {
    if (telling || taken >= size) return;
    telling = true;
    setImmediate(() => {
      telling = false;
      onFree();
    });
  };
  const end = (done: () => void) => {
    taken -= 1;
    done();
    next();
    tellFree();
  };

  return {
    run: (starts) => {
      const all = starts.map((start) => new Promise<void>((done) => line.push({ start, done })));
      next();
      return Promise.all(all).then(() => {});
    },
    free: () => Math.max(0, size - taken - line.length),
    waiting: () => line.length,
    room: () => Math.max(0, most - taken - line.length),
    open: () => {
      limit = Number.POSITIVE_INFINITY;
      next();
    },
  };
}

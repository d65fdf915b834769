import { areShort, type ConsumeOptions, type Consumer, type Start, type WorkSource } from '../queue.js';
import type { Relay } from '../relay/relay.js';
import { openSlots } from '../slots.js';

/** A backstop for wake-up calls that were lost; the signals do the work. Not all consumers look at the same time. */
const SWEEP_MS = 5000;
const sweepPause = () => SWEEP_MS * (0.8 + 0.4 * Math.random());
const RETRY_MS = 2000;
/** One claim takes at most this many, so that a large worker does not starve the others. */
const MAX_CLAIM = 500;

/**
 * Claims as much as it has room for, and again when room appears or a wake-up call came meanwhile. A claim that brings
 * less than asked for has emptied the queue: whatever is committed after it is followed by a call. Until then calls may be
 * handed to this worker with their commit (`offered`), for there is nobody whom they would overtake.
 */
export function consumePostgres({ runner, concurrency }: ConsumeOptions, work: WorkSource, relay: Relay): Consumer {
  let called = true;
  let emptied = false;
  let paused = false;
  let stopped = false;
  let turning: Promise<void> | null = null;
  let retry: NodeJS.Timeout | undefined;

  const slots = openSlots(concurrency, () => start(), { short: areShort(runner) });
  const room = () => Math.min(slots.free(), MAX_CLAIM);
  const mayTake = () => called && !paused && !stopped && room() > 0;

  const turn = async () => {
    while (mayTake()) {
      // What ends in one turn of the event loop frees its room together.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (!mayTake()) return;
      const limit = room();
      called = false;
      const claimed = await work.claim(limit);
      emptied = claimed.length < limit;
      if (!emptied) called = true;
      void slots.run(claimed);
    }
  };
  const start = () => {
    if (turning || !mayTake()) return;
    turning = turn()
      // The worker reports its own failures to claim.
      .catch(() => {
        if (!stopped) retry = setTimeout(call, RETRY_MS);
      })
      .finally(() => {
        turning = null;
        start();
      });
  };
  const call = () => {
    called = true;
    emptied = false;
    start();
  };

  const heed = (runners: string[]) => {
    if (runners.includes(runner)) call();
  };
  // What was called before it listened, or while it could not, it has missed.
  const unsubscribe = relay.subscribe('ready', heed, call);
  const sweep = setInterval(() => {
    called = true;
    start();
  }, sweepPause());
  call();

  return {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
      call();
    },
    run: (starts: readonly Start[]) => void slots.run(starts),
    offered: () => (emptied && !paused && !stopped ? slots.room() : 0),
    hasRoom: () => !paused && !stopped && room() > 0,
    stop: async () => {
      stopped = true;
      slots.open();
      clearInterval(sweep);
      clearTimeout(retry);
      unsubscribe();
      await turning;
    },
  };
}

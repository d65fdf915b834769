import type { QueueName } from '@capstan/contracts';
import { WaitingError, Worker } from 'bullmq';
import { areShort, type ConsumeOptions, type Consumer, type Start, type WorkSource } from '../queue.js';
import { openSlots } from '../slots.js';
import { connectRedis, PATIENT } from './connect-redis.js';

/** A hash tag per queue keeps all keys of a queue on one node of a cluster. */
export const prefixOf = (runner: QueueName): string => `{capstan-${runner}}`;

/** Marks the job of a receipt that is delivered once more. */
export const AGAIN = '.again';
/** A few receipts of short calls fill a worker. */
const SHORT_JOBS = 2;

/**
 * A job is a receipt: the worker that gets it makes the receipt its own in Postgres and runs the calls on it. BullMQ's
 * retries, locks and stalled jobs decide nothing: a job that comes twice finds a receipt that is owned, and one that is lost
 * leaves a receipt that the coordinator delivers again.
 */
export function consumeRedis(
  url: string,
  { runner, concurrency, lease_ms }: ConsumeOptions,
  work: WorkSource,
  onError: (error: unknown) => void,
): Consumer {
  const jobs = areShort(runner) ? Math.min(SHORT_JOBS, concurrency) : concurrency;
  const connection = connectRedis(url, PATIENT, onError);
  const slots = openSlots(concurrency, undefined, { short: areShort(runner) });
  let busy = 0;
  let paused = false;
  let stopped = false;
  const owning = new Set<Promise<unknown>>();
  const own = async (owned: Promise<Start[]>): Promise<Start[]> => {
    owning.add(owned);
    try {
      return await owned;
    } finally {
      owning.delete(owned);
    }
  };
  const ownAndRun = async (claim_id: string) => {
    const starts = await own(work.own(claim_id));
    await Promise.all(starts.map((start) => start()));
  };

  const worker = new Worker(
    runner,
    async (job, token) => {
      if (paused || stopped) {
        // BullMQ's pause lets the fetch that is under way bring one more job.
        await job.moveToWait(token);
        throw new WaitingError();
      }
      busy += 1;
      try {
        const claim_id = (job.id ?? '').replace(AGAIN, '');
        if (areShort(runner)) await slots.run(await own(work.own(claim_id)));
        // Calls that were handed over may take all slots; a receipt that is not owned can be taken back unharmed.
        else await slots.run([() => ownAndRun(claim_id)]);
      } finally {
        busy -= 1;
      }
    },
    {
      connection,
      prefix: prefixOf(runner),
      concurrency: jobs,
      // Nothing depends on it: a job that comes twice finds its receipt owned.
      lockDuration: lease_ms,
      stalledInterval: lease_ms,
      maxStalledCount: 1000,
      // BullMQ's own default lets a worker sleep 15 s after an outage.
      runRetryDelay: 1000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  worker.on('error', onError);

  /**
   * A job that came after a pause was committed, and before this consumer heard of it, could own nothing and is gone. So
   * whoever is resumed looks for itself.
   */
  const look = async (): Promise<void> => {
    for (let free = slots.free(); free > 0 && !paused && !stopped; free = slots.free()) {
      const starts = await own(work.ownAny(free));
      if (starts.length === 0) return;
      await slots.run(starts);
    }
  };

  return {
    pause: () => {
      paused = true;
      worker.pause(true).catch(onError);
    },
    resume: () => {
      paused = false;
      worker.resume().catch(onError);
      look().catch(onError);
    },
    run: (starts) => void slots.run(starts),
    // While it waits for a job, there is nobody whom a call would overtake.
    offered: () => (busy < jobs && !paused && !stopped ? slots.room() : 0),
    hasRoom: () => busy < jobs && !paused && !stopped,
    stop: async () => {
      // Not worker.close(): it waits for jobs, and these may run for as long as their tools do.
      stopped = true;
      slots.open();
      await worker.pause(true);
      await Promise.allSettled(owning);
      await worker.close(true);
      connection.disconnect();
    },
  };
}

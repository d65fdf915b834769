import type { RunnerType } from '@capstan/contracts';
import { WaitingError, Worker } from 'bullmq';
import type { ConsumeOptions, Consumer, Take } from '../queue.js';
import { connectRedis, PATIENT } from './connect-redis.js';
import { type Envelope, slotsFor } from './envelope.js';

/** A hash tag per queue keeps all keys of a queue on one node of a cluster. */
export const prefixOf = (runner: RunnerType): string => `{capstan-${runner}}`;

/**
 * BullMQ only says that so many invocations wait; a claim in Postgres takes whoever's turn it is, so priorities and
 * fairness between tenants are the same on both queues. Its retries, locks and stalled jobs decide nothing: a job that
 * comes twice finds nothing to claim, and a failed one never needs BullMQ to try again.
 */
export function consumeRedis(
  url: string,
  { runner, concurrency, lease_ms }: ConsumeOptions,
  take: Take,
  onError: (error: unknown) => void,
): Consumer {
  const slots = slotsFor(runner, concurrency);
  const connection = connectRedis(url, PATIENT, onError);
  let busy = 0;
  let paused = false;
  let stopped = false;
  const claims = new Set<Promise<unknown>>();
  const claiming = async <T>(claim: Promise<T>): Promise<T> => {
    claims.add(claim);
    try {
      return await claim;
    } finally {
      claims.delete(claim);
    }
  };
  const worker = new Worker<Envelope>(
    runner,
    async (job, token) => {
      busy++;
      try {
        const { size } = job.data;
        for (let start = 0; start < size; start += slots.size) {
          // BullMQ's pause lets the fetch that is under way bring one more job, and an envelope may be half taken. The
          // whole job goes back; what was claimed of it already is not claimed again.
          if (paused || stopped) {
            await job.moveToWait(token);
            throw new WaitingError();
          }
          await Promise.all(await claiming(take(Math.min(slots.size, size - start))));
        }
      } finally {
        busy--;
      }
    },
    {
      connection,
      prefix: prefixOf(runner),
      concurrency: slots.jobs,
      lockDuration: lease_ms,
      stalledInterval: lease_ms,
      // A stalled job is one whose worker died before or after its claim; delivering it again costs nothing.
      maxStalledCount: 1000,
      // BullMQ's own default lets a worker sleep 15 s after an outage.
      runRetryDelay: 1000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  worker.on('error', onError);

  return {
    pause: () => {
      paused = true;
      worker.pause(true).catch(onError);
    },
    resume: () => {
      paused = false;
      worker.resume().catch(onError);
    },
    hasRoom: () => busy < slots.jobs && !paused && !stopped,
    stop: async () => {
      // Not worker.close(): it waits for jobs, and these may run for as long as their tools do.
      stopped = true;
      await worker.pause(true);
      await Promise.allSettled(claims);
      await worker.close(true);
      connection.disconnect();
    },
  };
}

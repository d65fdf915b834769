import type { RunnerType } from '@capstan/contracts';
import { WaitingError, Worker } from 'bullmq';
import type { ConsumeOptions, Consumer, Take } from '../queue.js';
import { connectRedis, PATIENT } from './connect-redis.js';
import { type Envelope, jobsAtOnce } from './envelope.js';
import { openRoom } from './open-room.js';

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
  const jobs = jobsAtOnce(runner, concurrency);
  const room = openRoom(concurrency);
  const connection = connectRedis(url, PATIENT, onError);
  let busy = 0;
  let paused = false;
  let stopped = false;
  let looking = false;
  const claims = new Set<Promise<unknown>>();
  const claiming = async <T>(claim: Promise<T>): Promise<T> => {
    claims.add(claim);
    try {
      return await claim;
    } finally {
      claims.delete(claim);
    }
  };
  /** As many as there is room for, at least one; null when they are to be given back. */
  const takeSome = async (wanted: number): Promise<{ asked: number; runs: Promise<void>[] } | null> => {
    const asked = await room.take(wanted);
    let taken = 0;
    try {
      // BullMQ's pause lets the fetch that is under way bring one more job, and an envelope may be half taken.
      if (paused || stopped) return null;
      const runs = await claiming(take(asked));
      taken = runs.length;
      return { asked, runs: runs.map((run) => run.catch(onError).finally(() => room.give(1))) };
    } finally {
      room.give(asked - taken);
    }
  };

  /**
   * A job that came after the pause was committed and before this consumer heard of it found nothing that it could claim,
   * and is gone. So whoever is resumed looks for itself; a job whose work is taken this way finds nothing, which is harmless.
   */
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      // Until there are fewer than asked for, which is when nothing waits any more.
      for (let some = await takeSome(concurrency); some && some.runs.length === some.asked; )
        some = await takeSome(concurrency);
    } finally {
      looking = false;
    }
  };

  const worker = new Worker<Envelope>(
    runner,
    async (job, token) => {
      busy++;
      try {
        const running: Promise<void>[] = [];
        for (let left = job.data.size; left > 0; ) {
          const some = await takeSome(left);
          if (!some) {
            // The whole job goes back; what was claimed of it already is not claimed again.
            await job.moveToWait(token);
            throw new WaitingError();
          }
          running.push(...some.runs);
          // Fewer than asked for: nothing waits any more.
          left = some.runs.length < some.asked ? 0 : left - some.asked;
        }
        await Promise.all(running);
      } finally {
        busy--;
      }
    },
    {
      connection,
      prefix: prefixOf(runner),
      concurrency: jobs,
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
      look().catch(onError);
    },
    hasRoom: () => busy < jobs && !paused && !stopped,
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

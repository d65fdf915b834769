import { z } from 'zod';

/** A queue that Capstan is measured beside, at its fastest: it does nothing with a job but say that it is done. */
export interface Peer {
  openProducer(url: string): Promise<PeerProducer>;
  /** Works on jobs, 50 at a time, and tells how many are done. `busy` says whether any are to be expected. */
  work(url: string, told: { completed: (jobs: number) => void; busy: () => boolean }): Promise<void>;
}

export interface PeerProducer {
  add(a: number): Promise<unknown>;
  /** Many in one statement, where the library has that. */
  addMany(jobs: readonly { a: number; b: number }[]): Promise<unknown>;
  /** Adds jobs one after the other, each when the one before is done; answers the times each took. */
  addAndWait?(count: number): Promise<Float64Array>;
}

export const CONCURRENCY = 50;

// The messages between the processes of a peer, passed on by the bench.

/** The producer has made its tables and takes orders. */
export const Ready = z.object({ ready: z.literal(true) });
export type Ready = z.infer<typeof Ready>;

export const ProducerOrder = z.object({ kind: z.enum(['one_by_one', 'bulk', 'lone']), count: z.number() });
export type ProducerOrder = z.infer<typeof ProducerOrder>;

export const Added = z.object({ first_add_at: z.number() });
export type Added = z.infer<typeof Added>;

export const WorkerOrder = z.object({ expect: z.number() });
export type WorkerOrder = z.infer<typeof WorkerOrder>;

export const AllCompleted = z.object({ last_completed_at: z.number() });
export type AllCompleted = z.infer<typeof AllCompleted>;

/** Uses the machine's monotonic clock, which processes share; `performance.now()` counts from the start of its own process. */
export const monotonicMilliseconds = (): number => Number(process.hrtime.bigint()) / 1e6;

import type { QueueName } from '@capstan/contracts';
import { type Job, WaitingError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { areShort, type ConsumeOptions, type Consumer, type Start, type WorkSource } from '../queue.js';
import { openSlots, type Slots } from '../slots.js';
import { connectRedis, PATIENT } from './connect-redis.js';

/** A hash tag per queue keeps all keys of a queue on one node of a cluster. */
export const prefixOf = (runner: QueueName): string => `{capstan-${runner}}`;

/** Marks the job of a redelivered receipt. */
export const AGAIN = '.again';
/** A few receipts of short calls fill a worker. */
const SHORT_JOBS = 2;
/** How many receipts that could not be owned are tried again after a pause. The coordinator redelivers any others. */
const MAX_REFUSED = 100;

/**
 * A job is a receipt: the worker that gets it takes ownership of the receipt in Postgres and runs its calls. Correctness does
 * not depend on BullMQ's retries, locks or stalled jobs: a repeated job finds its receipt owned, and the coordinator redelivers
 * the receipt of a lost one.
 */
export class RedisConsumer implements Consumer {
  readonly #work: WorkSource;
  readonly #onError: (error: unknown) => void;
  readonly #short: boolean;
  readonly #jobs: number;
  readonly #slots: Slots;
  readonly #connection: Redis;
  readonly #worker: Worker;
  /** Receipts whose ownership is being taken. */
  readonly #owning = new Set<Promise<unknown>>();
  /** Receipts that could not be owned, because the queue was paused already or another worker has them. */
  readonly #refused = new Set<string>();
  #busy = 0;
  #paused = false;
  #stopped = false;

  constructor(
    url: string,
    { runner, concurrency, lease_ms }: ConsumeOptions,
    work: WorkSource,
    onError: (error: unknown) => void,
  ) {
    this.#work = work;
    this.#onError = onError;
    this.#short = areShort(runner);
    this.#jobs = this.#short ? Math.min(SHORT_JOBS, concurrency) : concurrency;
    this.#slots = openSlots(concurrency, undefined, { short: this.#short });
    this.#connection = connectRedis(url, PATIENT, onError);
    this.#worker = new Worker(runner, (job, token) => this.#process(job, token), {
      connection: this.#connection,
      prefix: prefixOf(runner),
      concurrency: this.#jobs,
      // Correctness does not depend on it: a repeated job finds its receipt owned.
      lockDuration: lease_ms,
      stalledInterval: lease_ms,
      maxStalledCount: 1000,
      // BullMQ's own default lets a worker sleep 15 s after an outage.
      runRetryDelay: 1000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on('error', onError);
  }

  pause(): void {
    this.#paused = true;
    this.#worker.pause(true).catch(this.#onError);
  }

  resume(): void {
    this.#paused = false;
    this.#worker.resume().catch(this.#onError);
    this.#takeRefused().catch(this.#onError);
  }

  run(starts: readonly Start[]): void {
    void this.#slots.run(starts);
  }

  /** While it waits for a job, the queue is empty, so a handed-over call overtakes nobody. */
  offered(): number {
    return this.hasRoom() ? this.#slots.room() : 0;
  }

  hasRoom(): boolean {
    return this.#busy < this.#jobs && !this.#paused && !this.#stopped;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#slots.open();
    await this.#worker.pause(true);
    await Promise.allSettled(this.#owning);
    // Forced: otherwise BullMQ waits for jobs, which may run as long as their tools.
    await this.#worker.close(true);
    this.#connection.disconnect();
  }

  async #process(job: Job, token: string | undefined): Promise<void> {
    if (this.#paused || this.#stopped) {
      // BullMQ's pause lets a fetch in flight return one more job.
      await job.moveToWait(token);
      throw new WaitingError();
    }
    this.#busy += 1;
    try {
      const claim_id = (job.id ?? '').replace(AGAIN, '');
      await this.#runCallsOf(claim_id);
    } finally {
      this.#busy -= 1;
    }
  }

  async #runCallsOf(claim_id: string): Promise<void> {
    if (this.#short) await this.#slots.run(await this.#own(claim_id));
    // Handed-over calls may use all slots; until it is owned, a receipt can safely be taken back.
    else await this.#slots.run([() => this.#ownAndRun(claim_id)]);
  }

  async #ownAndRun(claim_id: string): Promise<void> {
    const starts = await this.#own(claim_id);
    await Promise.all(starts.map((start) => start()));
  }

  async #own(claim_id: string): Promise<Start[]> {
    const owned = this.#work.own(claim_id);
    this.#owning.add(owned);
    try {
      const starts = await owned;
      if (starts.length === 0) this.#noteRefused(claim_id);
      return starts;
    } finally {
      this.#owning.delete(owned);
    }
  }

  #noteRefused(claim_id: string): void {
    this.#refused.add(claim_id);
    const [oldest] = this.#refused;
    if (oldest !== undefined && this.#refused.size > MAX_REFUSED) this.#refused.delete(oldest);
  }

  /**
   * A job that arrived after a pause was committed, but before this consumer heard of it, could not own its receipt and is gone.
   * A resumed consumer tries those receipts again, and no others: receipts written since then are delivered in their turn.
   */
  async #takeRefused(): Promise<void> {
    const refused = [...this.#refused];
    this.#refused.clear();
    await Promise.all(refused.map((claim_id) => this.#runCallsOf(claim_id)));
  }
}

import type { QueueName } from '@capstan/contracts';

/**
 * Brings work to workers, no more: Postgres knows what is to be done and who does it. Something may be brought twice or
 * never; receipts make the first harmless, the coordinator the second.
 */
export interface Queue {
  readonly kind: 'redis' | 'postgres';
  /** Brings receipts that nobody owns to a worker. Fails fast when the queue cannot be reached; the coordinator brings them later. */
  deliver(deliveries: readonly Delivery[]): Promise<void>;
  /** Brings receipts once more whose delivery is lost, or stuck with a worker that hangs. */
  deliverAgain(deliveries: readonly Delivery[]): Promise<void>;
  consume(options: ConsumeOptions, work: WorkSource): Consumer;
  counts(runner: QueueName): Promise<QueueCounts>;
  /** Rejects when the queue cannot be reached. */
  ping(): Promise<void>;
  /** True when deliveries may have been lost since `confirm` was called last (restart, failover, FLUSHALL). */
  mayHaveLost(): Promise<boolean>;
  confirm(): Promise<void>;
  close(): Promise<void>;
}

/** What the queue carries: the id of a receipt and its routing, never inputs or results. */
export type Delivery = {
  claim_id: string;
  runner: QueueName;
  size: number;
  priority: number;
  /** Of a tenant that has nothing else there: it does not wait for the others. */
  ahead: boolean;
};

export type ConsumeOptions = { runner: QueueName; concurrency: number; lease_ms: number };

/** A call that is this worker's, to be begun when a slot is free. Resolves when the slot is free again. */
export type Start = () => Promise<void>;

/** Where a consumer gets calls from. */
export type WorkSource = {
  /** Takes the next ones that wait, as many as there are up to `limit`. */
  claim(limit: number): Promise<Start[]>;
  /** Makes a receipt this worker's own, and answers the calls on it: none when it went elsewhere, or the queue is paused. */
  own(claim_id: string): Promise<Start[]>;
  /** Makes receipts this worker's own that were delivered while nobody could take them. */
  ownAny(limit: number): Promise<Start[]>;
};

export interface Consumer {
  pause(): void;
  resume(): void;
  /** Runs calls that were handed to this worker, as slots get free. */
  run(starts: readonly Start[]): void;
  /** How many calls may be handed to this worker now, without a claim. */
  offered(): number;
  /** Whether it could take more and is not told to stand still; with work waiting and nothing taken, it is wedged. */
  hasRoom(): boolean;
  /** Takes no more; resolves when no claim is under way. What was taken goes on, and is begun at once for its worker to give back. */
  stop(): Promise<void>;
}

export type QueueCounts = { waiting: number; delayed: number; active: number };

/** Runs that take less than bringing one of them: what is committed together is brought together. */
const SHORT_RUNS: ReadonlySet<QueueName> = new Set(['builtin', 'file']);
/** Of an own tool nobody knows; but bringing one costs a request, which many share. */
export const areShort = (runner: QueueName): boolean => SHORT_RUNS.has(runner);

/** Calls on one receipt at most. */
export const onReceipt = (runner: QueueName): number => (areShort(runner) ? 50 : 1);

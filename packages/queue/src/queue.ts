import { type QueueName, RUNNER_QUEUES, RUNNER_TRAITS } from '@capstan/contracts';

/**
 * Delivers work to workers; Postgres holds what is to be done and who does it. A delivery may be repeated or lost: receipts
 * make repetition harmless, and the coordinator redelivers what was lost.
 */
export interface Queue {
  readonly kind: 'redis' | 'postgres';
  /** Delivers receipts without an owner. Fails fast if the queue is unreachable; the coordinator then delivers them later. */
  deliver(deliveries: readonly Delivery[]): Promise<void>;
  /** Redelivers receipts whose delivery was lost, or is stuck in a hung worker. */
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
  /** The tenant has nothing else in the queue, so this goes to its head. */
  ahead: boolean;
};

export type ConsumeOptions = { runner: QueueName; concurrency: number; lease_ms: number };

/** A call owned by this worker, to be started when a slot is free. Resolves when it releases the slot. */
export type Start = () => Promise<void>;

/** Where a consumer gets calls from. */
export type WorkSource = {
  /** Claims up to `limit` waiting calls. */
  claim(limit: number): Promise<Start[]>;
  /** Takes ownership of a receipt and returns its calls: none if another worker has it, or the queue is paused. */
  own(claim_id: string): Promise<Start[]>;
};

export interface Consumer {
  pause(): void;
  resume(): void;
  /** Runs calls handed to this worker as slots become free. */
  run(starts: readonly Start[]): void;
  /** How many calls can be handed to this worker now without a claim. */
  offered(): number;
  /** Whether it has free slots and is not paused. If it then takes no waiting work, it is stuck. */
  hasRoom(): boolean;
  /** Stops claiming; resolves when no claim is in flight. Calls already taken start at once, so that the worker can return them. */
  stop(): Promise<void>;
}

export type QueueCounts = { waiting: number; delayed: number; active: number };

const SHORT_RUNS: ReadonlySet<QueueName> = new Set(RUNNER_QUEUES.filter((runner) => RUNNER_TRAITS[runner].is_short));
/** True if runs on this queue are cheaper than their own delivery. */
export const areShort = (runner: QueueName): boolean => SHORT_RUNS.has(runner);

/** The most calls on one receipt. */
export const onReceipt = (runner: QueueName): number => (areShort(runner) ? 100 : 1);

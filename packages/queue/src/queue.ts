import type { Delivery, RunnerType } from '@capstan/contracts';

/**
 * Delivers work to workers, no more: Postgres knows what is to be done and who does it. A delivery may come twice or
 * never; claims make the first harmless, the coordinator's rescue the second.
 */
export interface Queue {
  readonly kind: 'redis' | 'postgres';
  /** Whether deliveries live outside Postgres, so that an outbox has to cover the moment between commit and hand-over. */
  readonly needs_outbox: boolean;
  /**
   * Messages that hand work over when the statement that commits it sends them; null where only `enqueue` does.
   */
  riding(deliveries: Delivery[]): string[] | null;
  /** Fails fast when the queue cannot be reached; the outbox then keeps the work. */
  enqueue(deliveries: Delivery[]): Promise<void>;
  consume(options: ConsumeOptions, take: Take): Consumer;
  counts(runner: RunnerType): Promise<QueueCounts>;
  /** Forgets all deliveries of a runner type that nobody has taken. */
  drain(runner: RunnerType): Promise<void>;
  /** Rejects when the queue cannot be reached. */
  ping(): Promise<void>;
  /** True when deliveries may have been lost since `confirm` was called last (restart, failover, FLUSHALL). */
  mayHaveLost(): Promise<boolean>;
  confirm(): Promise<void>;
  close(): Promise<void>;
}

export type ConsumeOptions = { runner: RunnerType; concurrency: number; lease_ms: number };

/**
 * Claims the next ones, as many as there are up to `limit`, and starts what was claimed. Answers one promise for each
 * invocation claimed; it settles when the invocation no longer occupies a slot.
 */
export type Take = (limit: number) => Promise<Promise<void>[]>;

export interface Consumer {
  pause(): void;
  resume(): void;
  /** Whether it could take more and is not told to stand still; with work waiting and nothing taken, it is wedged. */
  hasRoom(): boolean;
  /** Takes no more; resolves when no claim is under way. What was taken goes on. */
  stop(): Promise<void>;
}

export type QueueCounts = { waiting: number; delayed: number; active: number };

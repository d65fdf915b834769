import type { Pool } from '@capstan/contracts';
import type { Store } from '@capstan/store';
import { registerAppWorker } from '@capstan/store/pool';
import { type Heartbeat, keepLease } from '@capstan/store/worker';

/** The lease of a pool worker. The gateway renews it on the worker's behalf whenever it hears from the worker. */
export class AppLease {
  readonly #store: Store;
  readonly #lease_ms: number;
  readonly #worker: { worker_id: string; pool: Pool; name: string };
  #renewed_at = Number.NEGATIVE_INFINITY;

  constructor(store: Store, worker: { worker_id: string; pool: Pool; name: string }, lease_ms: number) {
    this.#store = store;
    this.#worker = worker;
    this.#lease_ms = lease_ms;
  }

  isHeld(): boolean {
    return this.left_ms() > 0;
  }

  /** A lower bound: counted from when the renewal was sent, not from when it was answered. */
  left_ms(): number {
    return this.#renewed_at + this.#lease_ms - performance.now();
  }

  isDue(): boolean {
    return performance.now() - this.#renewed_at > this.#lease_ms / 6;
  }

  async register(concurrency: number, version: string | null): Promise<void> {
    const sent_at = performance.now();
    await registerAppWorker(this.#store, { ...this.#worker, concurrency, version }, this.#lease_ms);
    this.#renewed_at = sent_at;
  }

  /** If the answer is not `kept`, the lease has ended, and the worker's calls may belong to others by now. */
  async keep(): Promise<Heartbeat> {
    const sent_at = performance.now();
    const heartbeat = await keepLease(this.#store, this.#worker.worker_id, this.#lease_ms);
    if (heartbeat.kept) this.#renewed_at = sent_at;
    return heartbeat;
  }
}

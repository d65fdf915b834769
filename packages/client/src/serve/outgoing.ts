import { setTimeout as delay } from 'node:timers/promises';

type OutgoingOptions<T> = {
  send(batch: readonly T[]): Promise<void>;
  onError(error: Error): void;
  /** Whether it would be refused again. */
  isRefused(error: unknown): boolean;
  onRefused(batch: readonly T[]): void;
};

const MAX_BATCH = 500;
const RETRY_MS = 250;
const MAX_RETRY_MS = 5000;

/** Sends what there is, in order, one request at a time: what comes meanwhile goes together in the next. */
export class Outgoing<T> {
  #options: OutgoingOptions<T>;
  #waiting: T[] = [];
  #sending: Promise<void> | null = null;
  #closed = new AbortController();

  constructor(options: OutgoingOptions<T>) {
    this.#options = options;
  }

  add(one: T): void {
    this.#waiting.push(one);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
  }

  /** Null when there is nothing to wait for. */
  sent(): Promise<void> | null {
    return this.#sending;
  }

  async idle(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  /** What is not sent by now is not sent. */
  close(): void {
    this.#closed.abort();
  }

  async #send(): Promise<void> {
    // What ends in one turn of the event loop goes together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (let failures = 0; this.#waiting.length > 0 && !this.#closed.signal.aborted; ) {
      const batch = this.#waiting.slice(0, MAX_BATCH);
      try {
        await this.#options.send(batch);
        this.#waiting.splice(0, batch.length);
        failures = 0;
      } catch (error) {
        if (this.#options.isRefused(error)) {
          this.#waiting.splice(0, batch.length);
          this.#options.onRefused(batch);
        }
        if (failures++ > 0) this.#options.onError(error instanceof Error ? error : new Error(String(error)));
        await delay(Math.min(RETRY_MS * 2 ** failures, MAX_RETRY_MS), undefined, { signal: this.#closed.signal }).catch(
          () => {},
        );
      }
    }
  }
}

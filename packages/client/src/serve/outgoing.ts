import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError } from '../errors.js';

type OutgoingOptions<T> = {
  send(batch: readonly T[]): Promise<void>;
  onError(error: Error): void;
  /** Called for an item that would be refused again on every retry. */
  onRefused(one: T, error: Error): void;
};

/**
 * Whether the same item would be refused again. Everything else is sent again, because it says nothing about the item: a lost connection, a
 * proxy without its gateway (502, 504), a gateway without its database (503), or a key that was replaced (401, 403).
 */
const isRefused = (error: Error): boolean =>
  error instanceof CapstanError && (error.status === 413 || (isOfGateway(error) && [400, 422].includes(error.status)));

/** A fault of the gateway, which may have to do with one item. */
const isFault = (error: Error): boolean => error instanceof CapstanError && error.status === 500 && isOfGateway(error);

/** Errors that a proxy wrote have no code. */
const isOfGateway = ({ code }: CapstanError): boolean => code !== 0;

const MAX_BATCH = 500;
const RETRY_MS = 250;
const MAX_RETRY_MS = 5000;

/** Sends items in order, one request at a time. Items added during a request go into the next one together. */
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

  /** Returns null if there is nothing to wait for. */
  sent(): Promise<void> | null {
    return this.#sending;
  }

  async idle(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  /** Drops items that are not sent yet. */
  close(): void {
    this.#closed.abort();
  }

  async #send(): Promise<void> {
    // Items added in one turn of the event loop are sent together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    let most = MAX_BATCH;
    for (let failures = 0; this.#waiting.length > 0 && !this.#closed.signal.aborted; ) {
      const batch = this.#waiting.slice(0, most);
      try {
        await this.#options.send(batch);
        this.#waiting.splice(0, batch.length);
        failures = 0;
      } catch (cause) {
        const error = cause instanceof Error ? cause : new Error(String(cause));
        if (isRefused(error)) {
          // A refused item must not fail the others.
          if (batch.length === 1) for (const one of this.#waiting.splice(0, 1)) this.#options.onRefused(one, error);
          most = 1;
          continue;
        }
        if (isFault(error)) {
          // The others must not wait for it.
          if (batch.length === 1) this.#waiting.push(...this.#waiting.splice(0, 1));
          most = 1;
        }
        if (failures++ > 0) this.#options.onError(error);
        await delay(Math.min(RETRY_MS * 2 ** failures, MAX_RETRY_MS), undefined, { signal: this.#closed.signal }).catch(
          () => {},
        );
      }
    }
  }
}

import type { Backbone } from '@capstan/backbone';
import { type ClaimedDelivery, claimDeliveries, nextDeliveryIn, recordDelivery } from '@capstan/store/webhook';
import { type Backoff, backoffAfter } from './backoff.js';
import { type Sender, sendDelivery } from './send-delivery.js';

const SENDERS = 32;
const SENDERS_PER_TARGET = 4;

export type SendersOptions = {
  sender: Sender;
  backoff: Backoff;
  lease_ms: number;
  log: Backbone['log'];
  /** A sender is free again. */
  onFree(): void;
  /** A delivery was given up, which may have written events. */
  onGivenUp(): void;
};

/** Sends deliveries that are due, a limited number at once and few to the same target. */
export class Senders {
  readonly #options: SendersOptions;
  readonly #sending = new Map<string, ClaimedDelivery>();
  readonly #running = new Set<Promise<void>>();
  /** When the next delivery is due for which a sender is free; null if there is none. */
  next_ms: number | null = null;

  constructor(options: SendersOptions) {
    this.#options = options;
  }

  /** Returns how many deliveries it started. Does not wait for them, so that a slow endpoint does not delay the others. */
  async sendDue(): Promise<number> {
    const { store } = this.#options.sender;
    const limit = SENDERS - this.#sending.size;
    const busy = this.#busyTargets();
    this.next_ms = limit > 0 ? await nextDeliveryIn(store, busy) : null;
    if (this.next_ms !== 0) return 0;
    const { lease_ms } = this.#options;
    const claimed = await claimDeliveries(store, { limit, per_target: SENDERS_PER_TARGET, lease_ms, busy });
    for (const delivery of claimed) this.#start(delivery);
    return claimed.length;
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  #start(delivery: ClaimedDelivery): void {
    const { log, onFree } = this.#options;
    this.#sending.set(delivery.delivery_id, delivery);
    const one = this.#send(delivery)
      .catch((error: unknown) =>
        log.warn({ err: error }, 'webhook delivery could not be recorded; it will be sent again'),
      )
      .finally(() => {
        this.#sending.delete(delivery.delivery_id);
        this.#running.delete(one);
        onFree();
      });
    this.#running.add(one);
  }

  async #send(delivery: ClaimedDelivery): Promise<void> {
    const { sender, backoff, onGivenUp } = this.#options;
    const started = performance.now();
    const sent = await sendDelivery(sender, delivery);
    const state = await recordDelivery(sender.store, delivery, {
      ...sent,
      duration_ms: Math.round(performance.now() - started),
      backoff_ms: backoffAfter(delivery.attempts, backoff),
      give_up_ms: backoff.give_up_ms,
    });
    if (state === 'failed') onGivenUp();
  }

  #busyTargets(): string[] {
    const count = new Map<string, number>();
    for (const { target } of this.#sending.values()) count.set(target, (count.get(target) ?? 0) + 1);
    return [...count].flatMap(([target, sending]) => (sending >= SENDERS_PER_TARGET ? target : []));
  }
}

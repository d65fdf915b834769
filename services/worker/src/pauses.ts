import type { QueueName } from '@capstan/contracts';
import type { Consumer } from '@capstan/queue';
import type { Store } from '@capstan/store';
import { pausedRunners } from '@capstan/store/queue';

/** Tracks which queues are paused, and pauses their consumers. */
export class Pauses {
  readonly #store: Store;
  readonly #consumers: ReadonlyMap<QueueName, Consumer>;
  #paused: QueueName[];
  #looks = 0;

  private constructor(store: Store, consumers: ReadonlyMap<QueueName, Consumer>, paused: QueueName[]) {
    this.#store = store;
    this.#consumers = consumers;
    this.#paused = paused;
  }

  static async of(store: Store, consumers: ReadonlyMap<QueueName, Consumer>): Promise<Pauses> {
    return new Pauses(store, consumers, await pausedRunners(store));
  }

  now(): QueueName[] {
    return this.#paused;
  }

  /** Takes the paused queues from a heartbeat. */
  heard(paused: QueueName[]): void {
    if (paused.join() === this.#paused.join()) return;
    this.#paused = paused;
    this.apply();
  }

  /** Applied even if nothing seems to have changed: a pause may have come and gone, and deliveries in between were missed. */
  async look(): Promise<void> {
    this.#looks += 1;
    const mine = this.#looks;
    const paused = await pausedRunners(this.#store);
    // The result of a slow read must not replace that of a later one.
    if (mine !== this.#looks) return;
    this.#paused = paused;
    this.apply();
  }

  apply(): void {
    for (const [runner, consumer] of this.#consumers)
      this.#paused.includes(runner) ? consumer.pause() : consumer.resume();
  }
}

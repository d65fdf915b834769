import type { QueueName } from '@capstan/contracts';
import { areShort, type ConsumeOptions, type Consumer, type Start, type WorkSource } from '../queue.js';
import type { Relay } from '../relay/relay.js';
import { openSlots, type Slots } from '../slots.js';

/** Covers lost signals. Jittered, so that consumers do not poll at the same time. */
const SWEEP_MS = 5000;
const sweepPause = () => SWEEP_MS * (0.8 + 0.4 * Math.random());
const RETRY_MS = 2000;
/** One claim takes at most this many, so that a large worker does not starve the others. */
const MAX_CLAIM = 500;

/**
 * Claims as many calls as it has free slots, and again when slots become free or a signal arrives. If a claim returns fewer
 * calls than it asked for, the queue is empty, and a signal follows every later commit. Until then calls can be handed to this
 * worker with their commit (`offered`), because they overtake nobody.
 */
export class PostgresConsumer implements Consumer {
  readonly #runner: QueueName;
  readonly #work: WorkSource;
  readonly #slots: Slots;
  readonly #sweep: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  /** Work may be waiting that no claim has looked for. */
  #called = true;
  /** The last claim returned fewer calls than it asked for, and no signal has arrived since. */
  #emptied = false;
  #paused = false;
  #stopped = false;
  #claiming: Promise<void> | null = null;
  #retry: NodeJS.Timeout | undefined;

  constructor({ runner, concurrency }: ConsumeOptions, work: WorkSource, relay: Relay) {
    this.#runner = runner;
    this.#work = work;
    this.#slots = openSlots(concurrency, () => this.#start(), { short: areShort(runner) });
    const call = () => this.#call();
    // Signals sent before it listened, or during an interruption, were missed.
    this.#unsubscribe = relay.subscribe('ready', (runners) => runners.includes(this.#runner) && call(), call);
    this.#sweep = setInterval(() => {
      this.#called = true;
      this.#start();
    }, sweepPause());
    this.#call();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#call();
  }

  run(starts: readonly Start[]): void {
    void this.#slots.run(starts);
  }

  offered(): number {
    return this.#emptied && !this.#paused && !this.#stopped ? this.#slots.room() : 0;
  }

  hasRoom(): boolean {
    return !this.#paused && !this.#stopped && this.#room() > 0;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#slots.open();
    clearInterval(this.#sweep);
    clearTimeout(this.#retry);
    this.#unsubscribe();
    await this.#claiming;
  }

  #call(): void {
    this.#called = true;
    this.#emptied = false;
    this.#start();
  }

  #start(): void {
    if (this.#claiming || !this.#mayClaim()) return;
    this.#claiming = this.#claim()
      // The worker logs failed claims itself.
      .catch(() => {
        if (!this.#stopped) this.#retry = setTimeout(() => this.#call(), RETRY_MS);
      })
      .finally(() => {
        this.#claiming = null;
        this.#start();
      });
  }

  async #claim(): Promise<void> {
    while (this.#mayClaim()) {
      // Calls that end in one turn of the event loop free their slots together.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (!this.#mayClaim()) return;
      const limit = this.#room();
      this.#called = false;
      const claimed = await this.#work.claim(limit);
      this.#emptied = claimed.length < limit;
      if (!this.#emptied) this.#called = true;
      void this.#slots.run(claimed);
    }
  }

  #room(): number {
    return Math.min(this.#slots.free(), MAX_CLAIM);
  }

  #mayClaim(): boolean {
    return this.#called && this.hasRoom();
  }
}

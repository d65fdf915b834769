import type { Backbone } from '@capstan/backbone';
import type { QueueName } from '@capstan/contracts';
import { Intake, type Receipts } from '@capstan/execution';
import type { Consumer } from '@capstan/queue';
import type { Claimed } from '@capstan/store/claim';
import { readGivenReceipts } from '@capstan/store/pool';

/** How long a worker may pause between two claims and still be assigned calls. */
const LINGER_MS = 1000;

export type AppIntakeOptions = {
  worker_id: string;
  runner: QueueName;
  lease_ms: number;
  receipts: Receipts;
  isAlive(): boolean;
  /** Resolves when the call no longer takes up a slot. */
  run(claimed: Claimed): Promise<void>;
  /** Called when the number of calls that it offers to take changes. */
  onChange(): void;
};

/** Takes calls from the queue on behalf of a pool worker, while a claim of the worker waits and for a moment afterwards. */
export class AppIntake {
  readonly #backbone: Backbone;
  readonly #options: AppIntakeOptions;
  #intake: Intake;
  #consumer: Consumer | null = null;
  #size = 0;
  /** Consumers are replaced one at a time, even if several claims ask for it. */
  #turn: Promise<void> = Promise.resolve();
  #open = false;
  #linger: NodeJS.Timeout | null = null;
  #paused = false;
  #stopped = false;
  /** The number of restarts. */
  #begun = 0;

  constructor(backbone: Backbone, options: AppIntakeOptions) {
    this.#backbone = backbone;
    this.#options = options;
    this.#intake = this.#create();
  }

  /** True without a consumer, or with one that is too small. */
  isShortOf(size: number): boolean {
    return this.#consumer === null || size > this.#size;
  }

  size(): number {
    return this.#size;
  }

  /** Replaces the consumer by one for this many concurrent calls. The worker must be registered before. */
  resize(size: number): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#stopped || !this.isShortOf(size)) return;
      this.#size = Math.max(size, this.#size);
      await this.#end();
      const { runner, lease_ms } = this.#options;
      this.#consumer = this.#backbone.queue.consume(
        { runner, concurrency: this.#size, lease_ms },
        this.#intake.sourceOf(runner, () => {}),
      );
      if (this.#paused) this.#consumer.pause();
      this.#backbone.dispatcher.wake([runner]);
    });
  }

  /** How many calls may be assigned to this worker by the statement that commits them. */
  offered(): number {
    return this.#mayTake() ? (this.#consumer?.offered() ?? 0) : 0;
  }

  /** A claim starts to wait. Returns true if the intake was closed, so that calls assigned meanwhile may have been missed. */
  open(): boolean {
    if (this.#linger) clearTimeout(this.#linger);
    this.#linger = null;
    if (this.#open) return false;
    this.#open = true;
    this.#intake.receiveAs(this.#options.worker_id);
    if (this.#mayTake()) this.#consumer?.resume();
    // By then the consumer has looked for waiting calls, which newly assigned calls must not overtake.
    setTimeout(() => this.#options.onChange(), 20).unref();
    return true;
  }

  /** No claim waits any more. The next one is probably on its way. */
  close(): void {
    this.#linger ??= setTimeout(() => this.rest(), LINGER_MS).unref();
  }

  /** Takes nothing until the next claim. */
  rest(): void {
    this.#shut();
    this.#consumer?.pause();
    this.#options.onChange();
  }

  pause(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (this.#mayTake()) this.#consumer?.resume();
    else this.#consumer?.pause();
  }

  /** Takes ownership of calls that were assigned to the worker, in case their signal was lost. */
  async look(): Promise<void> {
    this.#intake.adopt(await readGivenReceipts(this.#backbone.store, this.#options.worker_id));
  }

  /** The lease was lost, so calls that were taken and wait for a slot belong to others now. */
  async restart(): Promise<void> {
    this.#begun += 1;
    this.#shut();
    this.#intake = this.#create();
    await this.#inTurn(() => this.#end());
  }

  /** Stops for good. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#shut();
    await this.#inTurn(() => this.#end());
    this.#options.onChange();
  }

  #create(): Intake {
    const { worker_id, lease_ms, receipts, isAlive, run } = this.#options;
    const begun = this.#begun;
    return new Intake(this.#backbone, {
      worker_id: () => worker_id,
      lease_ms,
      receipts,
      isAlive,
      run: async (claimed) => {
        if (begun === this.#begun) await run(claimed);
      },
      consumer: () => this.#consumer ?? undefined,
    });
  }

  #mayTake(): boolean {
    return this.#open && !this.#paused && !this.#stopped;
  }

  #shut(): void {
    this.#open = false;
    if (this.#linger) clearTimeout(this.#linger);
    this.#linger = null;
    this.#intake.receiveAs(null);
  }

  async #end(): Promise<void> {
    const before = this.#consumer;
    this.#consumer = null;
    await before?.stop();
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(act, act);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}

import { type Backbone, givenTo, readGiven } from '@capstan/backbone';
import type { QueueName } from '@capstan/contracts';
import type { Consumer, Start, WorkSource } from '@capstan/queue';
import { type GroupCommit, groupCommit, isUnavailable } from '@capstan/store';
import { type Claimed, claimNext, ownClaims, readClaims } from '@capstan/store/claim';
import type { Heartbeat } from '@capstan/store/worker';
import { retryWhileUnavailable } from './retry-while-unavailable.js';

type IntakeOptions = {
  worker_id(): string;
  lease_ms: number;
  receipts: Receipts;
  isAlive(): boolean;
  /** Resolves when the call no longer takes up a slot. */
  run(claimed: Claimed): Promise<void>;
  consumer(runner: QueueName): Consumer | undefined;
};

/** How calls reach this worker: claimed, delivered as receipts by the queue, or handed over with their commit. */
export class Intake {
  readonly #backbone: Backbone;
  readonly #options: IntakeOptions;
  readonly #own: GroupCommit<string, Claimed[]>;
  /** Receipts waiting for a slot. A heartbeat lists them too, so they must not be taken twice. */
  readonly #waiting = new Set<string>();
  #stopReceiving = () => {};

  constructor(backbone: Backbone, options: IntakeOptions) {
    this.#backbone = backbone;
    this.#options = options;
    // Receipts that arrive together are owned in one statement.
    this.#own = groupCommit({
      write: async (claim_ids) => {
        const calls = await ownClaims(backbone.store, options.worker_id(), claim_ids);
        return claim_ids.map((claim_id) => calls.filter((call) => call.claim_id === claim_id));
      },
      max_batch: 100,
      max_waiting: Number.POSITIVE_INFINITY,
      isolate: () => false,
    });
  }

  sourceOf(runner: QueueName, onTake: () => void): WorkSource {
    const { store } = this.#backbone;
    const { worker_id } = this.#options;
    const turn = { last: '' };
    const taking = (take: () => Promise<Claimed[]>) => {
      onTake();
      return this.#take(take);
    };
    return {
      claim: (limit) => taking(() => claimNext(store, worker_id(), runner, limit, turn)),
      own: (claim_id) => taking(() => this.#own(claim_id)),
    };
  }

  /** The address for calls handed to this worker is its id; null while it accepts none. */
  receiveAs(worker_id: string | null): void {
    this.#stopReceiving();
    this.#stopReceiving = () => {};
    if (worker_id === null) return;
    this.#stopReceiving = this.#backbone.relay.receive(givenTo(worker_id), (contents) => {
      const { claim_id, runner, owned, calls } = readGiven(contents);
      if (calls) this.#options.consumer(runner)?.run(this.#begin(calls));
      else void this.#bring(runner, claim_id, owned).catch(() => {});
    });
  }

  /** Receipts assigned to this worker that it never received. */
  adopt(mine: Heartbeat['receipts']): void {
    for (const { claim_id, runner, owned } of mine)
      if (!this.#options.receipts.knows(claim_id)) void this.#bring(runner, claim_id, owned).catch(() => {});
  }

  async #bring(runner: QueueName, claim_id: string, owned: boolean): Promise<void> {
    // Without a consumer, a later heartbeat will list the receipt again.
    const consumer = this.#options.consumer(runner);
    if (!consumer) return;
    if (owned) {
      const { store } = this.#backbone;
      consumer.run(await this.#take(() => readClaims(store, this.#options.worker_id(), [claim_id])));
      return;
    }
    if (this.#waiting.has(claim_id)) return;
    this.#waiting.add(claim_id);
    consumer.run([() => this.#ownAndRun(claim_id).finally(() => this.#waiting.delete(claim_id))]);
  }

  /** Called when a slot is free: until the receipt is owned, the coordinator can safely take it back. */
  async #ownAndRun(claim_id: string): Promise<void> {
    const starts = await this.#take(() => this.#own(claim_id));
    await Promise.all(starts.map((start) => start()));
  }

  /** Retries while Postgres is unavailable: until a receipt is owned, only this worker knows of its delivery. */
  async #take(take: () => Promise<Claimed[]>): Promise<Start[]> {
    const { lease_ms, isAlive } = this.#options;
    try {
      return this.#begin(await retryWhileUnavailable(() => inTime(lease_ms, take), isAlive));
    } catch (error) {
      if (isUnavailable(error)) return [];
      this.#backbone.log.error({ err: error }, 'claim failed');
      throw error;
    }
  }

  #begin(calls: readonly Claimed[]): Start[] {
    const { worker_id, receipts, run } = this.#options;
    const mine = worker_id();
    return receipts.begin(calls).map((call) => async () => {
      // If the lease was lost while the call waited for a slot, another worker owns it now.
      if (worker_id() === mine) await run(call);
      else receipts.settled(call.claim_id, call.invocation_id);
    });
  }
}

/** If the response arrives after the lease may have expired, start nothing: other workers may own the receipts by now. */
async function inTime(lease_ms: number, take: () => Promise<Claimed[]>): Promise<Claimed[]> {
  const asked = performance.now();
  const calls = await take();
  return performance.now() - asked < lease_ms ? calls : [];
}

/**
 * The receipts that this worker has started, with their unsettled calls. Each starts once, although it may arrive twice: in a
 * message, and in a heartbeat that read Postgres before the message arrived.
 */
export class Receipts {
  readonly #left = new Map<string, Set<string>>();
  /** Finished receipts and when they finished. A late message may still mention them. */
  readonly #done = new Map<string, number>();
  readonly #remember_ms: number;

  /** How long finished receipts are remembered; no message about them arrives later than that. */
  constructor(remember_ms: number) {
    this.#remember_ms = remember_ms;
  }

  /** Returns the calls whose receipts have not been started before, and marks those as started. */
  begin(calls: readonly Claimed[]): Claimed[] {
    const fresh = calls.filter(({ claim_id }) => !this.knows(claim_id));
    for (const { claim_id, invocation_id } of fresh) {
      const left = this.#left.get(claim_id);
      if (left) left.add(invocation_id);
      else this.#left.set(claim_id, new Set([invocation_id]));
    }
    return fresh;
  }

  /** Takes over calls that another process started. They must be all unfinished calls of their receipts. */
  adopt(calls: readonly Pick<Claimed, 'claim_id' | 'invocation_id'>[]): void {
    for (const { claim_id, invocation_id } of calls) {
      const left = this.#left.get(claim_id) ?? new Set<string>();
      this.#left.set(claim_id, left.add(invocation_id));
      this.#done.delete(claim_id);
    }
  }

  knows(claim_id: string): boolean {
    return this.#left.has(claim_id) || this.#done.has(claim_id);
  }

  /** Whether these are the last calls on a receipt. */
  isCompletedBy(claim_id: string, ids: ReadonlySet<string>): boolean {
    for (const id of this.#left.get(claim_id) ?? []) if (!ids.has(id)) return false;
    return true;
  }

  settled(claim_id: string, invocation_id: string): void {
    const left = this.#left.get(claim_id);
    left?.delete(invocation_id);
    if (left?.size !== 0) return;
    this.#left.delete(claim_id);
    this.#done.set(claim_id, performance.now());
    this.#forget();
  }

  /** Entries are in the order in which they finished. */
  #forget(): void {
    const until = performance.now() - this.#remember_ms;
    for (const [claim_id, done] of this.#done) {
      if (done > until) return;
      this.#done.delete(claim_id);
    }
  }
}

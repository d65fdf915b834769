import type { AppCall, AppResult } from '@capstan/contracts';
import {
  NotStarted,
  type Running,
  runInvocation,
  type StopReason,
  TakenElsewhere,
  type WorkerContext,
} from '@capstan/execution';
import type { Call } from '@capstan/runners';
import { withinLimits } from '@capstan/runners/within-limits';
import { type Claimed, readClaims, type Settled } from '@capstan/store/claim';
import { type OwnedCall, readOwnedCalls } from '@capstan/store/pool';
import type { AppContext } from './app-context.js';
import { type CallId, LiveCall, toAppCall } from './live-call.js';

/** Backoff of a call that is returned to the queue because other workers serve the version it was admitted for. */
const LEAVE_MS = 100;
/**
 * For workers that do not report their calls: one that they own for this long is assumed to have arrived. If its answer was lost, it
 * ends at its deadline.
 */
const ASSUMED_DELIVERED_MS = 10_000;
const MAX_ADOPTED = 10_000;

/** The ids of the calls that a worker reports to have; undefined if it does not report them. */
export type Reported = ReadonlySet<string> | undefined;

type DeliveryOptions = {
  worker_id: string;
  catalog: WorkerContext['catalog'];
  mayBegin: WorkerContext['mayBegin'];
  holdsLease: WorkerContext['holdsLease'];
  isServed(claimed: Claimed): Promise<boolean>;
  /** A call is ready to be delivered to a claim. */
  onReady(): void;
  /** The worker has to stop a call. */
  onStop(): void;
};

/**
 * The calls of one pool worker, from the queue to its process. Each call goes through the pipeline up to its tool, waits in the
 * outbox for a claim, and is over when the worker has settled it.
 *
 * A call is delivered again only to a worker that reports not to have it. A claim lists the calls that the worker has, and one
 * claim is in progress at a time, so a call that the worker owns in Postgres and does not list never reached it.
 */
export class Delivery {
  readonly #app: AppContext;
  readonly #options: DeliveryOptions;
  readonly #context: Omit<WorkerContext, 'runners' | 'settle'>;
  #calls = new Map<string, LiveCall>();
  #running = new Map<string, Running>();
  /** Calls that may start and are not delivered yet. */
  #outbox = new Set<LiveCall>();
  /** Calls in the outbox that one claim has listed already. */
  #listed_once = new WeakSet<LiveCall>();
  /** Calls that were found in Postgres and may still arrive through the queue. */
  #adopted = new Set<string>();

  constructor(app: AppContext, options: DeliveryOptions) {
    this.#app = app;
    this.#options = options;
    const { catalog, mayBegin, holdsLease, isServed } = options;
    this.#context = {
      ...app.pipeline,
      catalog,
      running: this.#running,
      mayBegin,
      holdsLease,
      leaveToOthers: async (claimed) => {
        if (await isServed(claimed)) throw new NotStarted('another worker has the version that was called', LEAVE_MS);
      },
    };
  }

  /** Takes a call from the queue. */
  async accept(claimed: Claimed): Promise<void> {
    if (!this.#adopted.has(nameOf(claimed))) await this.#run(claimed);
  }

  count(): number {
    return this.#calls.size;
  }

  ready(): number {
    return this.#outbox.size;
  }

  get({ invocation_id, attempt }: CallId): LiveCall | undefined {
    const live = this.#calls.get(invocation_id);
    return live?.claimed.attempt === attempt ? live : undefined;
  }

  /** Takes up to `slots` calls from the outbox. They count as delivered until a claim does not list them. */
  take(slots: number, reported: Reported): AppCall[] {
    const calls: AppCall[] = [];
    for (const live of this.#outbox) {
      if (calls.length >= slots) break;
      const is_listed = reported?.has(live.claimed.invocation_id) ?? false;
      // The claim may mean the attempt before this one. If the next claim lists the call again, the worker has this attempt.
      if (is_listed && !this.#listed_once.has(live)) {
        this.#listed_once.add(live);
        continue;
      }
      this.#outbox.delete(live);
      if (!live.message || live.ended) continue;
      live.delivered = true;
      if (is_listed) continue;
      live.message.timeout_ms = Math.max(1, Math.round(live.deadline - performance.now()));
      calls.push(live.message);
    }
    return calls;
  }

  /** True if the worker does not list a call that was delivered to it. */
  misses(reported: Reported): boolean {
    if (!reported) return this.#outbox.size > 0;
    for (const [id, live] of this.#calls) if (live.delivered && !live.ended && !reported.has(id)) return true;
    return false;
  }

  /**
   * Compares the calls here with those that the worker owns in Postgres. Calls that never reached it are delivered again. Calls that
   * no gateway has handed to it are started only while it has room, because their time limit starts to run here.
   */
  async check(reported: Reported, room: number, isSuperseded: () => boolean): Promise<void> {
    const known = [...this.#calls].filter(([, live]) => live.message || live.started_elsewhere);
    const owned = await this.owned();
    // A later claim has a newer list of the worker's calls.
    if (isSuperseded()) return;
    const attempts = new Map(owned.map(({ invocation_id, attempt }) => [invocation_id, attempt]));
    for (const [id, live] of known) if (attempts.get(id) !== live.claimed.attempt && !live.ended) this.forget(live);
    if (!reported) return this.resume(owned.filter(({ age_ms }) => age_ms > ASSUMED_DELIVERED_MS));
    await this.resume(owned.filter(({ invocation_id }) => reported.has(invocation_id)));
    const unknown: OwnedCall[] = [];
    for (const one of owned) {
      if (reported.has(one.invocation_id)) continue;
      const live = this.#calls.get(one.invocation_id);
      if (!live) unknown.push(one);
      else if (live.ended) continue;
      else if (live.started_elsewhere) {
        this.forget(live);
        unknown.push(one);
      } else if (live.message && live.delivered) this.#outbox.add(live);
    }
    const startable = unknown.slice(0, Math.max(0, room - this.#outbox.size));
    for (const claimed of await this.#adopt(startable)) this.#start(claimed);
  }

  /** The calls that the worker owns in Postgres. */
  owned(): Promise<OwnedCall[]> {
    return readOwnedCalls(this.#app.backbone.store, this.#options.worker_id);
  }

  /** Continues calls that the worker got from another gateway. */
  async resume(owned: readonly OwnedCall[]): Promise<void> {
    const started = new Map(owned.map((one) => [one.invocation_id, one]));
    for (const claimed of await this.#adopt(owned)) this.#start(claimed, started.get(claimed.invocation_id));
  }

  /** Ends a call with the worker's result. Resolves with the new status of the invocation; null if the result was not written. */
  async settle(live: LiveCall, result: AppResult): Promise<string | null> {
    this.#outbox.delete(live);
    live.end(result);
    return (await live.settled)?.status ?? null;
  }

  stop(ids: Iterable<string>, reason: StopReason): void {
    for (const id of ids) this.#running.get(id)?.stop(reason);
  }

  has(invocation_id: string): boolean {
    return this.#calls.has(invocation_id);
  }

  /** The ids of the calls that the worker has and must stop. */
  toStop(): string[] {
    return [...this.#calls.values()].flatMap((live) =>
      live.delivered && !live.ended && live.running?.stopped ? live.claimed.invocation_id : [],
    );
  }

  /** According to Postgres, the worker does not own this call any more. */
  lose(invocation_id: string): void {
    const live = this.#calls.get(invocation_id);
    if (live && !live.ended) this.forget(live);
  }

  /** Drops a call from this gateway without settling it. Its state in Postgres decides what happens next. */
  forget(live: LiveCall): void {
    const { invocation_id } = live.claimed;
    this.#outbox.delete(live);
    if (this.#calls.get(invocation_id) === live) this.#calls.delete(invocation_id);
    live.drop();
  }

  forgetAll(): void {
    for (const live of [...this.#calls.values()]) this.forget(live);
  }

  /** Returns calls that the worker has not received, so that others can run them. */
  giveBackUndelivered(why: string): void {
    for (const live of [...this.#outbox]) if (!live.delivered) live.giveBack(why);
  }

  /** For a worker that has settled everything it started: the calls left never started. Resolves when they are back in the queue. */
  async giveBackAll(why: string): Promise<void> {
    const left = [...this.#calls.values()];
    for (const live of left) live.giveBack(why);
    await Promise.all(left.map((live) => live.settled));
  }

  /** Runs a call without a slot of the consumer: the worker has it already, or has reported room for it. */
  #start(claimed: Claimed, started?: OwnedCall): void {
    this.#run(claimed, started).catch((error: unknown) => {
      const { invocation_id } = claimed;
      this.#app.backbone.log.warn({ err: error, invocation_id }, 'a call could not be continued; will retry');
      const live = this.#calls.get(invocation_id);
      if (live && !live.settling) this.forget(live);
    });
  }

  async #run(claimed: Claimed, started?: OwnedCall): Promise<void> {
    const live = new LiveCall(claimed, started !== undefined);
    const before = this.#calls.get(claimed.invocation_id);
    if (before) this.forget(before);
    this.#calls.set(claimed.invocation_id, live);
    if (started) await Promise.all([this.#app.catchUp([live], this.#options.worker_id), this.#app.catchUpLogs([live])]);
    const context: WorkerContext = {
      ...this.#context,
      runners: new Map([['app', { type: 'app', run: (call) => this.#handOver(live, call) }]]),
      settle: (running, settlement) => this.#follow(live, this.#app.settle(running, settlement)),
    };
    await runInvocation(context, claimed, started);
    this.#outbox.delete(live);
    // Not settled here: it continues elsewhere.
    if (!live.settling) this.forget(live);
  }

  /** The app runner: the pipeline has reached the tool, which the worker runs. Resolves when the worker has settled the call. */
  #handOver(live: LiveCall, call: Call) {
    const { claimed } = live;
    // It was forgotten meanwhile. The worker still owns it in Postgres, where its next claim finds it.
    if (this.#calls.get(claimed.invocation_id) !== live) throw new TakenElsewhere();
    const running = this.#running.get(claimed.invocation_id) ?? null;
    live.running = running;
    live.deadline = performance.now() + call.limits.timeout_ms;
    const ended = live.begin(call).then((outcome) => withinLimits(outcome, call));
    running?.onStop(() => this.#tellStop(live));
    if (!live.started_elsewhere) {
      live.message = toAppCall(claimed, call);
      this.#outbox.add(live);
      this.#options.onReady();
    }
    return ended;
  }

  /** A call that was not delivered yet ends here; otherwise the worker is told to stop it. */
  #tellStop(live: LiveCall): void {
    const { invocation_id, attempt } = live.claimed;
    if (!live.delivered && this.#outbox.delete(live)) live.end({ invocation_id, attempt, status: 'stopped' });
    this.#options.onStop();
  }

  /** Keeps the call until its settlement is written. */
  #follow(live: LiveCall, settled: Promise<Settled>): void {
    const { invocation_id } = live.claimed;
    live.settling = true;
    live.settle(
      settled.finally(() => {
        if (this.#calls.get(invocation_id) === live) this.#calls.delete(invocation_id);
      }),
    );
  }

  /** Loads whole receipts: a receipt is done when the last of its calls is settled, so all of its calls must be known. */
  async #adopt(owned: readonly OwnedCall[]): Promise<Claimed[]> {
    const wanted = new Set(owned.flatMap(({ invocation_id: id }) => (this.#calls.has(id) ? [] : id)));
    if (wanted.size === 0) return [];
    const { backbone, receipts } = this.#app;
    const claims = new Set(owned.flatMap(({ invocation_id, claim_id }) => (wanted.has(invocation_id) ? claim_id : [])));
    const all = await readClaims(backbone.store, this.#options.worker_id, [...claims]);
    receipts.adopt(all);
    const found = all.filter(({ invocation_id: id }) => wanted.has(id) && !this.#calls.has(id));
    for (const one of found) this.#adopted.add(nameOf(one));
    for (const name of this.#adopted) {
      if (this.#adopted.size <= MAX_ADOPTED) break;
      this.#adopted.delete(name);
    }
    return found;
  }
}

const nameOf = ({ claim_id, invocation_id }: Claimed): string => `${claim_id} ${invocation_id}`;

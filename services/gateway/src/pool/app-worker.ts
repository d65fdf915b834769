import { setTimeout as delay } from 'node:timers/promises';
import {
  type AppCall,
  type AppResult,
  type Pool,
  type PoolBeat,
  type PoolBeaten,
  type PoolClaim,
  type PoolSettled,
  type QueueName,
  queueOfPool,
} from '@capstan/contracts';
import type { OwnedCall } from '@capstan/store/pool';
import { type Heartbeat, markDraining, stopWorker } from '@capstan/store/worker';
import type { AppContext } from './app-context.js';
import { AppIntake } from './app-intake.js';
import { AppLease } from './app-lease.js';
import { Bell } from './bell.js';
import { Delivery, type Reported } from './delivery.js';
import { type CallId, type LiveCall, nameOf } from './live-call.js';
import type { VersionTools } from './pool-versions.js';
import { settleResults } from './settle-results.js';

/** How often claims check Postgres for calls that the worker owns but never received. */
const CHECK_MS = 2000;
const GIVE_BACK_MS = 10_000;

/** A claim in progress. A worker has one at a time: a later claim supersedes an earlier one, which is answered without calls. */
type CurrentClaim = {
  slots: number;
  reported: Reported;
  /** Aborts when the client disconnects. */
  gone: AbortSignal;
  isSuperseded(): boolean;
};

/**
 * This gateway's side of one pool worker. Calls are taken from the queue under the worker's own lease and id, and handed over in
 * the answers to its claims. All state that must survive is in Postgres, so another gateway can continue when this one stops or
 * when the worker connects elsewhere.
 */
export class AppWorker {
  readonly worker_id: string;
  readonly pool: Pool;
  readonly runner: QueueName;
  readonly #app: AppContext;
  readonly #lease: AppLease;
  readonly #intake: AppIntake;
  readonly #delivery: Delivery;
  #tools: VersionTools | null = null;
  #seen_at = performance.now();
  #checked_at = Number.NEGATIVE_INFINITY;
  #seq: number | null = null;
  #latest_claim = 0;
  #draining = false;
  /** Rings when a claim can be answered. */
  #ready_bell = new Bell();
  /** Rings when a beat has a call to stop. */
  #stop_bell = new Bell();

  constructor(app: AppContext, { worker_id, pool, name }: { worker_id: string; pool: Pool; name: string }) {
    this.#app = app;
    this.worker_id = worker_id;
    this.pool = pool;
    this.runner = queueOfPool(pool);
    const { backbone, lease_ms, receipts, stopping, versions } = app;
    this.#lease = new AppLease(backbone.store, { worker_id, pool, name }, lease_ms);
    this.#delivery = new Delivery(app, {
      worker_id,
      catalog: {
        get: (tool_id) => this.#entryOf(tool_id),
        find: (tool_id) => Promise.resolve(this.#entryOf(tool_id)),
      },
      mayBegin: () => !this.#draining && this.#lease.isHeld(),
      holdsLease: () => this.#lease.isHeld(),
      isServed: ({ tool_id, descriptor_hash }) => versions.isServed(pool, tool_id, descriptor_hash),
      onReady: () => this.#ready_bell.ring(),
      onStop: () => this.#stop_bell.ring(),
    });
    this.#intake = new AppIntake(backbone, {
      worker_id,
      runner: this.runner,
      lease_ms,
      receipts,
      isAlive: () => !stopping.aborted,
      run: (claimed) => this.#delivery.accept(claimed),
      onChange: app.offer,
    });
  }

  /** How many calls may be assigned to this worker by the statement that commits them. */
  offered(): number {
    return this.#intake.offered();
  }

  idle_ms(): number {
    return performance.now() - this.#seen_at;
  }

  /** Answers with up to `slots` calls; waits for up to `wait_s` seconds while there are none. */
  async claim({ slots, running, seq, version, wait_s = 0 }: PoolClaim, gone: AbortSignal): Promise<AppCall[]> {
    const claim = this.#begin(slots, running, gone);
    await this.#attend(version, slots, running?.length ?? this.#delivery.count());
    const follows_last = seq !== undefined && this.#seq !== null && seq === this.#seq + 1;
    this.#seq = seq ?? null;
    // Checked at the start of a claim, too: while connections keep breaking, no claim would wait long enough to check.
    if (!follows_last || this.#delivery.misses(claim.reported) || this.#untilCheck() <= 0) await this.#check(claim);
    if (slots === 0 || this.#draining) return [];
    // Calls that were assigned to this worker while its intake was closed are only in Postgres.
    if (!claim.isSuperseded() && this.#intake.open()) await this.#intake.look();
    await this.#waitForCalls(claim, wait_s * 1000);
    // The later claim gets what this one has not taken.
    if (claim.isSuperseded()) return [];
    // A worker that waits for an answer without renewing its lease is frozen: calls taken for it would be lost.
    if (this.#lease.isHeld()) this.#intake.close();
    else this.#intake.rest();
    return this.#isOver(claim) ? [] : this.#delivery.take(slots, claim.reported);
  }

  /** Renews the lease, then waits for up to `wait_s` seconds for calls that the worker has to stop. */
  async beat({ running, wait_s = 0, state = 'serving' }: PoolBeat, gone: AbortSignal): Promise<PoolBeaten> {
    const { lease_ms, stopping } = this.#app;
    this.#seen_at = performance.now();
    if (state === 'stopped') return this.#stop();
    const { cancel, paused } = await this.#keep();
    if (state === 'draining' && !this.#draining) await this.#drain();
    this.pause(paused);
    await this.#intake.look();
    const lost = await this.#reconcile(running, cancel);
    // A worker that waits any longer would renew its lease too late.
    const until = performance.now() + Math.min(wait_s * 1000, lease_ms / 3);
    while (lost.length === 0 && this.#delivery.toStop().length === 0 && performance.now() < until) {
      if (gone.aborted || stopping.aborted) break;
      await this.#stop_bell.wait(until - performance.now(), gone);
    }
    return { cancel: this.#delivery.toStop(), lost, lease_ms };
  }

  async settle(results: readonly AppResult[]): Promise<PoolSettled['outcomes']> {
    this.#seen_at = performance.now();
    await this.#find(results);
    await this.#app.catchUp(
      results.flatMap((result) => this.#delivery.get(result) ?? []),
      this.worker_id,
    );
    return settleResults(this.#app.backbone.store, this.worker_id, this.#delivery, results);
  }

  /** The call, if this worker owns it: only then may it log, upload files and get secrets. */
  async callOf(one: CallId): Promise<LiveCall | undefined> {
    this.#seen_at = performance.now();
    await this.#find([one]);
    return this.#delivery.get(one);
  }

  /** If the worker's beat waits here, calls that another gateway handed to it are looked up in Postgres. */
  async cancel(ids: ReadonlySet<string>): Promise<void> {
    this.#delivery.stop(ids, 'cancel');
    if (!this.#stop_bell.isAwaited() || [...ids].every((id) => this.#delivery.has(id))) return;
    await this.#resume((await this.#delivery.owned()).filter(({ canceled }) => canceled));
    this.#delivery.stop(ids, 'cancel');
  }

  /** Answers waiting requests now. */
  wake(): void {
    this.#ready_bell.ring();
    this.#stop_bell.ring();
  }

  pause(paused: readonly QueueName[]): void {
    this.#intake.pause(paused.includes(this.runner));
  }

  /** For when this gateway stops or the worker has moved to another one. The worker keeps its calls. */
  async close(): Promise<void> {
    this.#latest_claim += 1;
    this.wake();
    this.#delivery.forgetAll();
    await this.#intake.stop();
  }

  #entryOf(tool_id: string) {
    return this.#app.backbone.catalog.disabled(tool_id) ? undefined : this.#tools?.entries.get(tool_id);
  }

  /** Starts a claim and wakes the one before it, which is superseded now. */
  #begin(slots: number, running: readonly string[] | undefined, gone: AbortSignal): CurrentClaim {
    const mine = ++this.#latest_claim;
    this.#ready_bell.ring();
    const reported = running && new Set(running);
    return { slots, reported, gone, isSuperseded: () => mine !== this.#latest_claim };
  }

  #isOver({ isSuperseded, gone }: CurrentClaim): boolean {
    return isSuperseded() || gone.aborted || this.#app.stopping.aborted;
  }

  #untilCheck(): number {
    return this.#checked_at + CHECK_MS - performance.now();
  }

  async #check({ slots, reported, isSuperseded }: CurrentClaim): Promise<void> {
    this.#checked_at = performance.now();
    await Promise.all([this.#delivery.check(reported, slots, isSuperseded), this.#intake.look()]);
  }

  async #waitForCalls(claim: CurrentClaim, wait_ms: number): Promise<void> {
    const until = performance.now() + wait_ms;
    while (this.#delivery.ready() === 0 && !this.#isOver(claim) && this.#lease.isHeld()) {
      const left = until - performance.now();
      if (left <= 0) return;
      await this.#ready_bell.wait(Math.min(left, this.#untilCheck(), this.#lease.left_ms()), claim.gone);
      if (this.#isOver(claim) || this.#untilCheck() > 0) continue;
      await this.#check(claim);
      this.#app.offer();
    }
  }

  /** Makes sure that the worker is registered, its tools are loaded and its consumer is large enough. */
  async #attend(version: string | undefined, slots: number, running: number): Promise<void> {
    this.#seen_at = performance.now();
    if (this.#tools === null || version === undefined || version !== this.#tools.version)
      this.#tools = await this.#app.versions.find(this.pool, version);
    // Only the first claim counts running calls: later, they include calls whose results are on their way here.
    const size = Math.max(this.#intake.size() || slots + running, slots);
    if (slots > 0 && this.#intake.isShortOf(size)) {
      await this.#lease.register(size, this.#tools.version);
      await this.#intake.resize(size);
    } else if (this.#lease.isDue()) await this.#keep();
  }

  /** Stops canceled calls. Returns the calls that the worker reports as running but does not own any more. */
  async #reconcile(running: readonly string[], canceled: readonly string[]): Promise<string[]> {
    const owned = await this.#delivery.owned();
    const reported = new Set(running);
    await this.#resume(owned.filter(({ invocation_id }) => reported.has(invocation_id)));
    const canceled_in_postgres = owned.flatMap((one) => (one.canceled ? one.invocation_id : []));
    this.#delivery.stop([...canceled, ...canceled_in_postgres], 'cancel');
    const own = new Set(owned.map(({ invocation_id }) => invocation_id));
    const lost = running.filter((id) => !own.has(id));
    for (const id of lost) this.#delivery.lose(id);
    return lost;
  }

  async #keep(): Promise<Heartbeat> {
    const heartbeat = await this.#lease.keep();
    if (heartbeat.kept) return heartbeat;
    // The worker's calls may belong to others by now. Those it still owns are found in Postgres by its next claim.
    this.#delivery.forgetAll();
    this.#seq = null;
    this.#latest_claim += 1;
    this.#ready_bell.ring();
    await this.#intake.restart();
    await this.#lease.register(this.#intake.size(), this.#tools?.version ?? null);
    return heartbeat;
  }

  /** Loads calls that are not known here: another gateway may have handed them to the worker. */
  async #find(named: readonly CallId[]): Promise<void> {
    const missing = new Set(named.filter((one) => !this.#delivery.get(one)).map(nameOf));
    if (missing.size > 0) await this.#resume((await this.#delivery.owned()).filter((one) => missing.has(nameOf(one))));
  }

  async #resume(owned: readonly OwnedCall[]): Promise<void> {
    if (owned.length > 0) this.#tools ??= await this.#app.versions.find(this.pool, undefined).catch(() => null);
    await this.#delivery.resume(owned);
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    this.#latest_claim += 1;
    this.#ready_bell.ring();
    await markDraining(this.#app.backbone.store, this.worker_id);
    await this.#intake.stop();
    this.#delivery.giveBackUndelivered('its worker is about to stop');
  }

  /** The worker has settled everything it started, so calls that it still owns never reached it and go back to the queue. */
  async #stop(): Promise<PoolBeaten> {
    const { backbone, lease_ms } = this.#app;
    if (!this.#draining) await this.#drain();
    await this.#resume(await this.#delivery.owned());
    const given_back = this.#delivery.giveBackAll('its worker has stopped');
    await Promise.race([given_back, delay(GIVE_BACK_MS, undefined, { ref: false })]);
    await stopWorker(backbone.store, this.worker_id);
    return { cancel: [], lost: [], lease_ms };
  }
}

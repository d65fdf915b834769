import { setTimeout as delay } from 'node:timers/promises';
import type { Backbone } from '@capstan/backbone';
import {
  type AppCall,
  type AppResult,
  Failure,
  type Pool,
  type PoolBeat,
  type PoolBeaten,
  type PoolClaim,
  type PoolSettled,
  type QueueName,
  queueOfPool,
} from '@capstan/contracts';
import {
  createIntake,
  type Intake,
  NotStarted,
  type Receipts,
  type Running,
  runInvocation,
  type StopReason,
  type WorkerContext,
} from '@capstan/execution';
import type { Consumer } from '@capstan/queue';
import type { Call } from '@capstan/runners';
import {
  type Claimed,
  keepLease,
  markDraining,
  type OwnedCall,
  readClaims,
  readOwnedCalls,
  recallLateResults,
  registerAppWorker,
  type Settled,
  stopWorker,
} from '@capstan/store';
import { LiveCall } from './live-call.js';
import type { PoolVersions, VersionTools } from './pool-versions.js';

/** What all workers of pools at this gateway share. */
export type AppContext = {
  backbone: Backbone;
  lease_ms: number;
  receipts: Receipts;
  versions: PoolVersions;
  /** The pipeline's context, but for what is each worker's own. */
  pipeline: Omit<WorkerContext, 'catalog' | 'runners' | 'running' | 'mayBegin' | 'settle' | 'leaveToOthers'>;
  settle(running: Running, settlement: Parameters<WorkerContext['settle']>[1]): Promise<Settled>;
  /** What an earlier attempt to serve this call left: lines, files, secrets that it was given. */
  takeUp(live: LiveCall, worker_id: string): Promise<void>;
  /** To be called when a worker offers more or less than before. */
  offer(): void;
  stopping: AbortSignal;
};

/** A worker may be between two claims for so long and still be given calls. */
const LINGER_MS = 1000;
/** While a claim waits, calls that never reached their worker are looked for so often. */
const CHECK_MS = 2000;
/** A call for a version that others serve comes back to the queue for so long. */
const LEAVE_MS = 100;

/**
 * A worker of a pool, as this gateway acts for it: takes calls under the worker's own lease and name, runs each through the
 * pipeline as far as its tool, and hands it over with the answer to a claim. All that must not be lost is in Postgres: another
 * gateway goes on from there when this one ends, or when the worker asks another.
 *
 * Calls are answered twice only to a worker that says it does not have them. A claim names the calls that the worker has; one
 * claim is under way at a time; so what stands under its name in Postgres and is not among them never reached it.
 */
export class AppWorker {
  readonly worker_id: string;
  readonly pool: Pool;
  readonly runner: QueueName;
  #app: AppContext;
  #name: string;
  #calls = new Map<string, LiveCall>();
  #running = new Map<string, Running>();
  /** Calls that may begin and whose worker has not been told. */
  #outbox = new Set<LiveCall>();
  /** Calls of the outbox that a claim said its worker has. */
  #doubted = new WeakSet<LiveCall>();
  #intake: Intake;
  #consumer: Consumer | null = null;
  #concurrency = 0;
  #tools: VersionTools | null = null;
  #held_until = 0;
  #kept_at = Number.NEGATIVE_INFINITY;
  #seen_at = performance.now();
  #seq: number | null = null;
  #claims = 0;
  /** How often its lease was lost. */
  #leases = 0;
  /** Calls that were found in Postgres, and may still come by the queue. */
  #adopted = new Set<string>();
  #polling = false;
  #draining = false;
  #paused = false;
  #linger: NodeJS.Timeout | null = null;
  #wake: (() => void) | null = null;
  #beats = new Set<() => void>();
  #context: WorkerContext;

  constructor(app: AppContext, { worker_id, pool, name }: { worker_id: string; pool: Pool; name: string }) {
    this.#app = app;
    this.worker_id = worker_id;
    this.pool = pool;
    this.#name = name;
    this.runner = queueOfPool(pool);
    this.#context = {
      ...app.pipeline,
      catalog: {
        get: (tool_id) => this.#entryOf(tool_id),
        find: (tool_id) => Promise.resolve(this.#entryOf(tool_id)),
      },
      runners: new Map([['app', { type: 'app', run: (call) => this.#hand(call) }]]),
      running: this.#running,
      mayBegin: () => !this.#draining && performance.now() < this.#held_until,
      settle: (running, settlement) => this.#settled(running, app.settle(running, settlement)),
      leaveToOthers: async ({ tool_id, descriptor_hash }) => {
        if (await app.versions.isServed(pool, tool_id, descriptor_hash))
          throw new NotStarted('another worker has the version that was called', LEAVE_MS);
      },
    };
    this.#intake = this.#newIntake();
  }

  /** What was taken before the lease was lost, and waits for a slot, is others' by now. */
  #newIntake(): Intake {
    const { backbone, lease_ms, receipts, stopping } = this.#app;
    const lease = this.#leases;
    return createIntake(backbone, {
      worker_id: () => this.worker_id,
      lease_ms,
      receipts,
      isAlive: () => !stopping.aborted,
      run: async (claimed) => {
        if (lease === this.#leases && !this.#adopted.has(nameOf(claimed))) await this.#run(claimed);
      },
      consumer: () => this.#consumer ?? undefined,
    });
  }

  /** How many calls may be handed to this worker with their commit. */
  offered(): number {
    return this.#mayTake() ? (this.#consumer?.offered() ?? 0) : 0;
  }

  idle_ms(): number {
    return performance.now() - this.#seen_at;
  }

  async claim(claim: PoolClaim, gone: AbortSignal): Promise<AppCall[]> {
    const { slots, running, seq, version } = claim;
    const mine = ++this.#claims;
    this.#wake?.();
    await this.#attend(version, slots + (running?.length ?? this.#calls.size));
    const isNext = seq !== undefined && this.#seq !== null && seq === this.#seq + 1;
    this.#seq = seq ?? null;
    const has = running && new Set(running);
    if (!isNext || this.#misses(has)) await this.#check(has, mine);
    const isOver = () => mine !== this.#claims || gone.aborted || this.#app.stopping.aborted;
    if (isOver() || slots === 0 || this.#draining) return [];
    this.#open();
    const until = performance.now() + (claim.wait_s ?? 0) * 1000;
    let check_at = performance.now() + CHECK_MS;
    while (this.#outbox.size === 0 && !isOver()) {
      const now = performance.now();
      if (now >= until) break;
      await this.#wait(Math.min(until, check_at) - now, gone);
      if (isOver() || performance.now() < check_at) continue;
      check_at = performance.now() + CHECK_MS;
      await this.#check(has, mine);
      this.#app.offer();
    }
    // A later claim of this worker goes on where this one ends.
    if (mine !== this.#claims) return [];
    this.#polling = false;
    this.#close();
    return isOver() ? [] : this.#take(slots, has);
  }

  async beat({ running, wait_s = 0, state = 'serving' }: PoolBeat, gone: AbortSignal): Promise<PoolBeaten> {
    const { backbone, lease_ms } = this.#app;
    this.#seen_at = performance.now();
    if (state === 'stopped') return this.#stop();
    const { cancel, paused, receipts } = await this.#keep();
    if (state === 'draining' && !this.#draining) await this.#drain();
    this.#paused = paused.includes(this.runner);
    if (!this.#mayTake()) this.#consumer?.pause();
    const owned = await readOwnedCalls(backbone.store, this.worker_id);
    const has = new Set(running);
    await this.#takeUp(owned.filter(({ invocation_id, age_ms }) => has.has(invocation_id) || age_ms > 10_000));
    this.#stopThose(new Set([...cancel, ...owned.flatMap((one) => (one.canceled ? one.invocation_id : []))]), 'cancel');
    this.#intake.adopt(receipts.filter((receipt) => !receipt.owned));
    const names = new Set(owned.map(({ invocation_id }) => invocation_id));
    const lost = running.filter((id) => !names.has(id));
    for (const id of lost) this.#forgetLost(id);
    const toCancel = () =>
      [...this.#calls.values()].flatMap((live) =>
        live.delivered && !live.ended && live.running?.stopped ? live.claimed.invocation_id : [],
      );
    // A worker that waited for longer would renew its lease too late.
    const until = performance.now() + Math.min(wait_s * 1000, lease_ms / 3);
    while (lost.length === 0 && toCancel().length === 0 && performance.now() < until) {
      if (gone.aborted || this.#app.stopping.aborted) break;
      await this.#waitForBeat(until - performance.now(), gone);
    }
    return { cancel: toCancel(), lost, lease_ms };
  }

  async settle(results: readonly AppResult[]): Promise<PoolSettled['outcomes']> {
    this.#seen_at = performance.now();
    if (results.some((result) => !this.#isOwn(result)))
      await this.#takeUp(await readOwnedCalls(this.#app.backbone.store, this.worker_id));
    const late = results.filter((result) => !this.#isOwn(result));
    const taken = results.flatMap((result) => {
      const live = this.#calls.get(result.invocation_id);
      if (!live || !this.#isOwn(result)) return [];
      // Its worker has it, so it is delivered.
      this.#outbox.delete(live);
      live.end(result);
      return [live.settled.then((settled) => ({ result, status: settled?.status ?? null }))];
    });
    const ended = await Promise.all(taken);
    const left = [...late, ...ended.flatMap(({ result, status }) => (status ? [] : result))];
    const recalled = await this.#recall(left);
    await this.#insist(left.filter((result) => !recalled.has(`${result.invocation_id} ${result.attempt}`)));
    return results.map(({ invocation_id, attempt }) => {
      const status =
        ended.find(({ result }) => result.invocation_id === invocation_id && result.attempt === attempt)?.status ??
        recalled.get(`${invocation_id} ${attempt}`) ??
        null;
      return { invocation_id, attempt, outcome: status === null ? ('refused' as const) : ('taken' as const), status };
    });
  }

  /** What is still its worker's own was not refused: this gateway could not take it. */
  async #insist(refused: readonly AppResult[]): Promise<void> {
    if (refused.length === 0) return;
    const owned = await readOwnedCalls(this.#app.backbone.store, this.worker_id);
    const isOwned = ({ invocation_id, attempt }: AppResult) =>
      owned.some((one) => one.invocation_id === invocation_id && one.attempt === attempt);
    if (refused.some(isOwned))
      throw new Failure('STORAGE_UNAVAILABLE', {
        detail: 'Some results could not be taken now; send all of them again.',
      });
  }

  /** The call, if it is this worker's own and may log, keep files and ask for secrets. */
  async callOf(one: { invocation_id: string; attempt: number }): Promise<LiveCall | undefined> {
    this.#seen_at = performance.now();
    if (!this.#isOwn(one)) await this.#takeUp(await readOwnedCalls(this.#app.backbone.store, this.worker_id));
    const live = this.#calls.get(one.invocation_id);
    return live && this.#isOwn(one) ? live : undefined;
  }

  /** One that another gateway gave to it is looked for in Postgres, while the worker waits here to be told. */
  async cancel(ids: ReadonlySet<string>): Promise<void> {
    this.#stopThose(ids, 'cancel');
    if (this.#beats.size === 0 || [...ids].every((id) => this.#calls.has(id))) return;
    const owned = await readOwnedCalls(this.#app.backbone.store, this.worker_id);
    await this.#takeUp(owned.filter(({ canceled }) => canceled));
    this.#stopThose(ids, 'cancel');
  }

  /** Whoever waits is answered now. */
  wake(): void {
    this.#wake?.();
    for (const beat of [...this.#beats]) beat();
  }

  pause(paused: readonly QueueName[]): void {
    const is = paused.includes(this.runner);
    if (is === this.#paused) return;
    this.#paused = is;
    if (this.#mayTake()) this.#consumer?.resume();
    else this.#consumer?.pause();
  }

  /** This gateway ends, or the worker has gone elsewhere. What it has stays its own. */
  async close(): Promise<void> {
    this.#claims += 1;
    this.wake();
    if (this.#linger) clearTimeout(this.#linger);
    this.#intake.receiveAs(null);
    for (const live of [...this.#calls.values()]) this.#forget(live);
    await this.#consumer?.stop();
    this.#consumer = null;
  }

  #entryOf(tool_id: string) {
    return this.#app.backbone.catalog.disabled(tool_id) ? undefined : this.#tools?.entries.get(tool_id);
  }

  #isOwn({ invocation_id, attempt }: { invocation_id: string; attempt: number }): boolean {
    return this.#calls.get(invocation_id)?.claimed.attempt === attempt;
  }

  #mayTake(): boolean {
    return !this.#paused && !this.#draining && (this.#polling || this.#linger !== null);
  }

  /** Alive, with its tools known and a consumer of its size. */
  async #attend(version: string | undefined, concurrency: number): Promise<void> {
    this.#seen_at = performance.now();
    const { backbone, versions, lease_ms } = this.#app;
    if (this.#tools === null || (version ?? this.#tools.version) !== this.#tools.version || version === undefined)
      this.#tools = await versions.find(this.pool, version);
    if (concurrency > this.#concurrency || this.#consumer === null) {
      this.#concurrency = Math.max(concurrency, this.#concurrency);
      await this.#register();
      const before = this.#consumer;
      this.#consumer = null;
      await before?.stop();
      this.#consumer = backbone.queue.consume(
        { runner: this.runner, concurrency: this.#concurrency, lease_ms },
        this.#intake.sourceOf(this.runner, () => {}),
      );
      backbone.dispatcher.wake([this.runner]);
    } else if (performance.now() - this.#kept_at > lease_ms / 6) await this.#keep();
  }

  async #register(): Promise<void> {
    const { backbone, lease_ms } = this.#app;
    const asked = performance.now();
    await registerAppWorker(
      backbone.store,
      {
        worker_id: this.worker_id,
        pool: this.pool,
        name: this.#name,
        concurrency: this.#concurrency,
        version: this.#tools?.version ?? null,
      },
      lease_ms,
    );
    this.#kept_at = asked;
    this.#held_until = asked + lease_ms;
  }

  async #keep() {
    const { backbone, lease_ms } = this.#app;
    const asked = performance.now();
    const heard = await keepLease(backbone.store, this.worker_id, lease_ms);
    if (heard.kept) {
      this.#kept_at = asked;
      this.#held_until = asked + lease_ms;
    } else {
      // What it had may be others' by now; what is still under its name is found there.
      for (const live of [...this.#calls.values()]) this.#forget(live);
      this.#seq = null;
      this.#leases += 1;
      // Its claim begins anew.
      this.#claims += 1;
      this.#polling = false;
      if (this.#linger) clearTimeout(this.#linger);
      this.#linger = null;
      this.#wake?.();
      this.#intake.receiveAs(null);
      this.#intake = this.#newIntake();
      const before = this.#consumer;
      this.#consumer = null;
      await before?.stop();
      await this.#register();
    }
    return heard;
  }

  #open(): void {
    this.#polling = true;
    if (this.#linger) {
      clearTimeout(this.#linger);
      this.#linger = null;
      return;
    }
    this.#intake.receiveAs(this.worker_id);
    if (this.#mayTake()) this.#consumer?.resume();
    setTimeout(() => this.#app.offer(), 20).unref();
  }

  #close(): void {
    if (this.#linger) return;
    this.#linger = setTimeout(() => {
      this.#linger = null;
      if (this.#polling) return;
      this.#consumer?.pause();
      this.#intake.receiveAs(null);
      this.#app.offer();
    }, LINGER_MS);
    this.#linger.unref();
  }

  #run(claimed: Claimed, begun?: OwnedCall): Promise<void> {
    const live = new LiveCall(claimed);
    const before = this.#calls.get(claimed.invocation_id);
    if (before) this.#forget(before);
    this.#calls.set(claimed.invocation_id, live);
    if (begun) {
      live.delivered = true;
      return this.#app.takeUp(live, this.worker_id).then(() => this.#follow(live, begun));
    }
    return this.#follow(live);
  }

  async #follow(live: LiveCall, begun?: OwnedCall): Promise<void> {
    await runInvocation(this.#context, live.claimed, begun);
    this.#outbox.delete(live);
    // Nothing of it was settled here if it went on elsewhere.
    if (!live.settling) this.#forget(live);
  }

  #forgetLost(invocation_id: string): void {
    const live = this.#calls.get(invocation_id);
    if (live && !live.ended) this.#forget(live);
  }

  #forget(live: LiveCall): void {
    const { invocation_id } = live.claimed;
    this.#outbox.delete(live);
    if (this.#calls.get(invocation_id) === live) this.#calls.delete(invocation_id);
    live.drop();
  }

  /** The pipeline has come to the tool: from here on its worker runs it. */
  #hand(call: Call) {
    const live = this.#calls.get(call.invocation_id);
    if (!live) throw new NotStarted('its worker is gone');
    const { claimed } = live;
    const running = this.#running.get(call.invocation_id) ?? null;
    live.running = running;
    const timeout_ms = call.limits.timeout_ms;
    live.deadline = performance.now() + timeout_ms;
    const ended = live.begin(call);
    running?.onStop(() => this.#tellStop(live));
    if (!live.delivered) {
      live.message = {
        invocation_id: claimed.invocation_id,
        attempt: claimed.attempt,
        tool_id: claimed.tool_id,
        inputs: call.inputs,
        tenant: claimed.tenant,
        actor: claimed.actor,
        session_id: claimed.session_id,
        idempotency_key: claimed.invocation_id,
        deadline_at: new Date(Date.now() + timeout_ms).toISOString(),
        timeout_ms,
        traceparent: call.traceparent ?? null,
      };
      this.#outbox.add(live);
      this.#wake?.();
    }
    return ended;
  }

  /** What its worker has not been told of ends without it. */
  #tellStop(live: LiveCall): void {
    if (!live.delivered && this.#outbox.delete(live)) live.end({ ...attemptOf(live), status: 'stopped' });
    for (const beat of [...this.#beats]) beat();
  }

  #settled(running: Running, settled: Promise<Settled>): void {
    const live = this.#calls.get(running.claimed.invocation_id);
    if (live) live.settling = true;
    const done = settled.finally(() => {
      if (live && this.#calls.get(running.claimed.invocation_id) === live)
        this.#calls.delete(running.claimed.invocation_id);
    });
    live?.settle(done);
  }

  /** In one turn of the event loop, calls that were committed together arrive together. */
  #take(slots: number, has: ReadonlySet<string> | undefined): AppCall[] {
    const calls: AppCall[] = [];
    for (const live of this.#outbox) {
      if (calls.length >= slots) break;
      // A claim that was sent during the attempt before names it, too. The next one says whether the worker has this attempt.
      if (has?.has(live.claimed.invocation_id) && !this.#doubted.has(live)) {
        this.#doubted.add(live);
        continue;
      }
      this.#outbox.delete(live);
      if (!live.message || live.ended || has?.has(live.claimed.invocation_id)) continue;
      live.delivered = true;
      live.message.timeout_ms = Math.max(1, Math.round(live.deadline - performance.now()));
      calls.push(live.message);
    }
    return calls;
  }

  /** Whether a call was answered that its worker says it does not have. */
  #misses(has: ReadonlySet<string> | undefined): boolean {
    if (!has) return this.#outbox.size > 0;
    for (const [id, live] of this.#calls) if (live.delivered && !has.has(id)) return true;
    return false;
  }

  /** Compares with what stands in Postgres under this worker's name, and answers again what never reached it. */
  async #check(has: ReadonlySet<string> | undefined, mine: number): Promise<void> {
    const owned = await readOwnedCalls(this.#app.backbone.store, this.worker_id);
    // What a later claim says of the calls that its worker has counts.
    if (mine !== this.#claims) return;
    const byName = new Map(owned.map((one) => [one.invocation_id, one]));
    for (const [id, live] of [...this.#calls])
      if (live.message && byName.get(id)?.attempt !== live.claimed.attempt && !live.ended) {
        this.#forget(live);
      }
    if (!has) return this.#takeUp(owned);
    await this.#takeUp(owned.filter(({ invocation_id }) => has.has(invocation_id)));
    const missing = owned.filter(({ invocation_id }) => !has.has(invocation_id));
    for (const { invocation_id } of missing) {
      const live = this.#calls.get(invocation_id);
      if (live?.message && live.delivered && !live.ended) this.#outbox.add(live);
    }
    const unknown = missing.filter(({ invocation_id }) => !this.#calls.has(invocation_id));
    for (const claimed of await this.#adopt(unknown)) void this.#run(claimed);
  }

  /** Calls that its worker has, and that this gateway did not see begin. */
  async #takeUp(owned: readonly OwnedCall[]): Promise<void> {
    const unknown = owned.filter(({ invocation_id }) => !this.#calls.has(invocation_id));
    if (unknown.length === 0) return;
    if (!this.#tools) this.#tools = await this.#app.versions.find(this.pool, undefined).catch(() => null);
    const by = new Map(unknown.map((one) => [one.invocation_id, one]));
    for (const claimed of await this.#adopt(unknown)) {
      const begun = by.get(claimed.invocation_id);
      if (begun && !this.#calls.has(claimed.invocation_id)) void this.#run(claimed, begun);
    }
  }

  /** With all calls on their receipts: which of them is the last decides when a receipt is done with. */
  async #adopt(owned: readonly OwnedCall[]): Promise<Claimed[]> {
    if (owned.length === 0) return [];
    const { backbone, receipts } = this.#app;
    const claims = [...new Set(owned.map(({ claim_id }) => claim_id))];
    const all = await readClaims(backbone.store, this.worker_id, claims);
    receipts.adopt(all);
    const wanted = new Set(owned.map(({ invocation_id }) => invocation_id));
    const found = all.filter(({ invocation_id }) => wanted.has(invocation_id) && !this.#calls.has(invocation_id));
    for (const one of found) this.#adopted.add(nameOf(one));
    return found;
  }

  async #recall(late: readonly AppResult[]): Promise<Map<string, string>> {
    if (late.length === 0) return new Map();
    const rows = await recallLateResults(this.#app.backbone.store, this.worker_id, late.map(lateOf));
    const sent = new Map(late.map((result) => [`${result.invocation_id} ${result.attempt}`, result.status]));
    return new Map(
      rows.flatMap(({ invocation_id, attempt, status }) => {
        const name = `${invocation_id} ${attempt}`;
        // What it says now has to be what it said then.
        const same = status !== null && (sent.get(name) === 'succeeded') === (status === 'succeeded');
        return same ? [[name, status] as const] : [];
      }),
    );
  }

  #stopThose(ids: ReadonlySet<string>, reason: StopReason): void {
    for (const id of ids) this.#running.get(id)?.stop(reason);
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    this.#claims += 1;
    this.#wake?.();
    await markDraining(this.#app.backbone.store, this.worker_id);
    await this.#consumer?.stop();
    this.#consumer = null;
    this.#app.offer();
    for (const live of [...this.#outbox]) if (!live.delivered) live.giveBack('its worker is about to stop');
  }

  /** It has settled all that it had begun; what else stands under its name never reached it. */
  async #stop(): Promise<PoolBeaten> {
    const { backbone, lease_ms } = this.#app;
    if (!this.#draining) await this.#drain();
    await this.#takeUp(await readOwnedCalls(backbone.store, this.worker_id));
    const left = [...this.#calls.values()];
    for (const live of left) live.giveBack('its worker has stopped');
    await Promise.race([Promise.all(left.map((live) => live.settled)), delay(10_000, undefined, { ref: false })]);
    await stopWorker(backbone.store, this.worker_id);
    return { cancel: [], lost: [], lease_ms };
  }

  #wait(ms: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', done);
        if (this.#wake === wake) this.#wake = null;
        resolve();
      };
      // What arrives in one turn of the event loop is answered together.
      const wake = () => setImmediate(done);
      const timer = setTimeout(done, Math.max(0, ms));
      gone.addEventListener('abort', done);
      this.#wake = wake;
    });
  }

  #waitForBeat(ms: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', done);
        this.#beats.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, ms));
      gone.addEventListener('abort', done);
      this.#beats.add(done);
    });
  }
}

const nameOf = ({ invocation_id, attempt }: Claimed): string => `${invocation_id} ${attempt}`;
const attemptOf = ({ claimed: { invocation_id, attempt } }: LiveCall) => ({ invocation_id, attempt });
const lateOf = ({ invocation_id, attempt, status }: AppResult) => ({ invocation_id, attempt, status });

import type { Backbone } from '@capstan/backbone';
import type { PolicyCache } from '@capstan/policy';
import { isUnavailable, type Query } from '@capstan/store';
import { claimPlanRuns, type Ending, type Heard, readEndings, stopPlanRun } from '@capstan/store/plan';
import { Bell } from '../bell.js';
import { advance, keep, type Turns, writeEnded } from './advance.js';
import { CallWriter } from './call-writer.js';
import { CompletionInbox, type Due } from './completion-inbox.js';
import { createIdleSearch, type IdleSearch } from './idle-search.js';
import { RunCache } from './run-cache.js';

/** How long a turn waits for the next completion before it commits. */
const MOMENT_MS = 25;
/** The same while more than `MANY` steps are running: ending the turn means writing each of them as started. */
const LONG_MOMENT_MS = 100;
const MANY = 100;
/** The longest a turn lasts. Clients that follow a run see its changes only after the commit. */
const MAX_TURN_MS = 400;

/**
 * Runs plans. A turn takes runs with their completions and advances them in one transaction:
 *
 *     signals ──▶ inbox ──take──▶ claim runs ──▶ apply completions ──▶ start ready steps ────▶ save steps ──▶ commit ──▶ notify
 *                   ▲                                  ▲                        │
 *                   │                                  └──── hear more ◀────────┤ calls are committed ahead of the turn,
 *                   └──────────── unfinished, missed, held elsewhere ◀──────────┘ and run while the rest is written
 *
 * If this process dies, another one finds the same work, and the calls committed before the turn. A run is locked for its turn,
 * so two coordinators never advance it at the same time.
 */
export class PlanEngine {
  readonly #backbone: Backbone;
  readonly #inbox = new CompletionInbox();
  readonly #cache: RunCache;
  readonly #idle: IdleSearch;
  readonly #bell = new Bell();
  #turn_ms = 0;
  #rested_ms = 0;

  constructor(backbone: Backbone, policies: PolicyCache) {
    this.#backbone = backbone;
    this.#cache = new RunCache(backbone.store, policies);
    this.#idle = createIdleSearch(backbone.store, (run_id) => this.#inbox.has(run_id));
  }

  /** Takes ids of ended invocations. Returns when a turn is due. */
  hear(invocation_ids: readonly string[]): 'now' | 'soon' | 'never' {
    const due = this.#inbox.hear(invocation_ids);
    if (due !== 'never') this.#bell.ring();
    return due;
  }

  /** Takes runs that were submitted, resumed or canceled. True if there are any. */
  look(ids: readonly string[]): boolean {
    const runs = ids.filter((id) => id.startsWith('run_'));
    for (const run_id of runs) this.#inbox.lookAt(run_id);
    this.#bell.ring();
    return runs.length > 0;
  }

  /** Runs one turn; never two at a time. Returns how many runs still need one now. */
  async turn(): Promise<number> {
    const due = this.#inbox.take();
    if (due.run_ids.length === 0) return 0;
    const began = performance.now();
    this.#rested_ms = 0;
    try {
      await this.#advanceRuns(due);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const { log } = this.#backbone;
      log.warn(
        { err: error, runs: due.run_ids.length },
        'a batch of plan runs could not be advanced; retrying them one at a time',
      );
      await this.#advanceEach(due);
    }
    this.#turn_ms = performance.now() - began - this.#rested_ms;
    return this.#inbox.urgent;
  }

  /** Finds runs whose signal was lost. A suspect counts as stuck if the next search finds it unchanged. */
  async sweep(): Promise<{ stuck: number; suspects: number }> {
    const { stuck, suspects } = await this.#idle.find();
    for (const run_id of stuck) {
      this.#inbox.lookAt(run_id);
      this.#inbox.miss(run_id);
    }
    return { stuck: stuck.length, suspects };
  }

  /** How long the last turn took, without its waits. Completions are collected for a multiple of it, to limit the time spent in turns. */
  lastTurnMs(): number {
    return this.#turn_ms;
  }

  /** Resolves when all started calls have been handed over. */
  idle(): Promise<void> {
    return this.#backbone.dispatcher.idle();
  }

  async #advanceRuns(due: Due): Promise<void> {
    const { store, relay } = this.#backbone;
    const { run_ids, endings: heard, missed } = due;
    // Outcomes are final, so they can be read while the runs are being claimed.
    const reading = this.#readEndings(heard);
    reading.catch(() => undefined);
    const work = store.transact(async (query) => {
      const turns: Turns = await this.#cache.open(query, await claimPlanRuns(query, run_ids));
      const calls = new CallWriter(this.#backbone, query, turns);
      try {
        const claimed = missed.filter((run_id) => turns.has(run_id));
        const unfinished = await this.#advanceClaimed(query, turns, calls, { endings: await reading, missed: claimed });
        await calls.inserted();
        await keep(this.#backbone, query, [...turns.values()]);
        return { turns, unfinished, ...calls.sent() };
      } finally {
        // The next turn, perhaps a cancel, must find every call of this one.
        await calls.settled();
      }
    });
    const { turns, unfinished, committed, later, begun } = await work.catch((error: unknown) => {
      this.#cache.forget(run_ids);
      throw error;
    });
    this.#cache.keep(turns.values());
    this.#noteLeft(due, turns, { unfinished, begun });
    const changed = [...turns.keys()];
    if (!relay.riding('changed', changed)) relay.publish('changed', changed);
    if (later) relay.publish('due', ['now']);
    for (const tell of committed) tell();
  }

  /** Notes the work that this turn leaves for another. */
  #noteLeft(
    { run_ids, endings }: Due,
    turns: Turns,
    { unfinished, begun }: { unfinished: ReadonlySet<string>; begun: ReadonlySet<string> },
  ): void {
    const elsewhere = run_ids.filter((run_id) => !turns.has(run_id));
    this.#inbox.stand(elsewhere, () => 0);
    for (const run_id of elsewhere) this.#idle.again(run_id);
    for (const run_id of unfinished) this.#inbox.lookAt(run_id);
    // Calls made by another turn may already have ended.
    for (const run_id of begun) {
      this.#inbox.miss(run_id);
      this.#inbox.lookAt(run_id);
    }
    // Another coordinator has these runs; their completions are looked up in a later turn.
    for (const { run_id } of endings) if (!turns.has(run_id)) this.#inbox.miss(run_id);
  }

  /** Advances runs one at a time after one of them made the batch fail, so that the others do not wait for it. */
  async #advanceEach({ run_ids, endings }: Due): Promise<void> {
    for (const run_id of run_ids)
      await this.#advanceRuns({
        run_ids: [run_id],
        endings: endings.filter((one) => one.run_id === run_id),
        missed: [run_id],
      }).catch((reason: unknown) => giveUp(this.#backbone, run_id, reason));
  }

  /** Advances claimed runs until nothing more is due. Returns the runs with more work than fits in one turn. */
  async #advanceClaimed(
    query: Query,
    turns: Turns,
    calls: CallWriter,
    due: { endings: Ending[]; missed: string[] },
  ): Promise<Set<string>> {
    const until = performance.now() + MAX_TURN_MS;
    const run_ids = new Set(turns.keys());
    for (let found = due; ; ) {
      const unfinished = await advance(this.#backbone, query, turns, calls, found);
      this.#inbox.stand(turns.keys(), (run_id) => turns.get(run_id)?.row.live ?? 0);
      const live = [...turns.values()].reduce((sum, { row }) => sum + row.live, 0);
      if (unfinished.size > 0 || live === 0 || !calls.areUnderWay()) return unfinished;
      // Not awaited: it is written while the workers are busy. If it fails, so does the next statement of this transaction.
      writeEnded(query, turns).catch(() => undefined);
      const heard = await this.#hearMore(run_ids, until, live > MANY ? LONG_MOMENT_MS : MOMENT_MS);
      if (heard.length === 0) return unfinished;
      found = { endings: await this.#readEndings(heard), missed: [] };
    }
  }

  /** Waits briefly for more completions. Taking them in the same turn saves a transaction for each layer of a plan. */
  async #hearMore(run_ids: ReadonlySet<string>, until: number, moment_ms: number): Promise<Heard[]> {
    for (;;) {
      const endings = this.#inbox.takeMore(run_ids);
      if (!endings) return [];
      if (endings.length > 0) return endings;
      const rested = performance.now();
      const rung = rested < until && (await this.#bell.wait(Math.min(moment_ms, until - rested)));
      this.#rested_ms += performance.now() - rested;
      if (!rung) return [];
    }
  }

  #readEndings(heard: readonly Heard[]): Promise<Ending[]> {
    return readEndings(this.#backbone.store.query, heard, (one) => this.#cache.isTaken(one));
  }
}

/** A run that cannot be advanced fails rather than wait forever. */
async function giveUp({ store, log }: Backbone, run_id: string, error: unknown): Promise<void> {
  log.error({ err: error, run_id }, 'a plan run could not be advanced');
  if (isUnavailable(error)) return;
  await stopPlanRun(store, run_id, error instanceof Error ? error.message : String(error));
}

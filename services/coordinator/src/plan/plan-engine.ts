import type { Backbone } from '@capstan/backbone';
import {
  claimPlanRuns,
  type Ending,
  type Heard,
  isUnavailable,
  type Query,
  readEndings,
  stopPlanRun,
} from '@capstan/store';
import { Bell } from '../bell.js';
import { advance, keep, type Turns, writeEnded } from './advance.js';
import { Agenda, type Due } from './agenda.js';
import { Calls } from './calls.js';
import { createIdleSearch } from './idle-search.js';
import { KnownRuns } from './known-runs.js';

/**
 * So long a turn waits for another ending, and longer while many steps are under way, each of which it would have to write as
 * started first; and so long it lasts: who follows the run waits for its commit.
 */
const MOMENT_MS = 25;
const LONG_MOMENT_MS = 100;
const MANY = 100;
const MAX_TURN_MS = 400;

export type PlanEngine = {
  /** Ids of invocations that ended. Answers when a turn is due. */
  hear(invocation_ids: readonly string[]): 'now' | 'soon' | 'never';
  /** Runs that were submitted, resumed or canceled. True when there are some. */
  look(ids: readonly string[]): boolean;
  /** Answers how many runs are left to be looked at now. One at a time. */
  turn(): Promise<number>;
  /** Looks for what no signal told of; a turn then does it. A suspect is one if the next look finds it just as it is. */
  sweep(): Promise<{ stuck: number; suspects: number }>;
  /** How long the last turn took, without the rest in it: gathering for longer than that keeps turns from being most of what is done. */
  lastTurnMs(): number;
  /** Resolves when all that was started has been handed over. */
  idle(): Promise<void>;
};

/**
 * Runs plans. A turn takes runs, with what was heard of them, and advances them in one transaction: should this process
 * die, another finds the same to do, and the calls that were committed ahead of the turn. Two coordinators never have the same
 * run at a time, because a run is locked for its turn.
 */
export function createPlanEngine(backbone: Backbone): PlanEngine {
  const { store, relay, log } = backbone;
  const agenda = new Agenda();
  const known = new KnownRuns(store);
  const idle = createIdleSearch(store, (run_id) => agenda.has(run_id));
  const bell = new Bell();
  let turn_ms = 0;
  let rested_ms = 0;

  /** What ends within a moment is taken over by the same turn, which spares a transaction for each layer of a plan. */
  const hearMore = async (run_ids: ReadonlySet<string>, until: number, moment_ms: number): Promise<Heard[]> => {
    for (;;) {
      const endings = agenda.takeMore(run_ids);
      if (!endings) return [];
      if (endings.length > 0) return endings;
      const rested = performance.now();
      const rung = rested < until && (await bell.wait(Math.min(moment_ms, until - rested)));
      rested_ms += performance.now() - rested;
      if (!rung) return [];
    }
  };

  /** Runs that are claimed, until nothing more of them is to be done now. Answers those with more to do than a turn does. */
  const advanceClaimed = async (
    query: Query,
    turns: Turns,
    calls: Calls,
    due: { endings: Ending[]; missed: string[] },
  ): Promise<Set<string>> => {
    const until = performance.now() + MAX_TURN_MS;
    const run_ids = new Set(turns.keys());
    for (let found = due; ; ) {
      const unfinished = await advance(backbone, query, turns, calls, found);
      agenda.stand(turns.keys(), (run_id) => turns.get(run_id)?.row.live ?? 0);
      const live = [...turns.values()].reduce((sum, { row }) => sum + row.live, 0);
      if (unfinished.size > 0 || live === 0 || !calls.areUnderWay()) return unfinished;
      // Goes on while workers work; if it fails, so does whatever is next in this transaction.
      writeEnded(query, turns).catch(() => undefined);
      const heard = await hearMore(run_ids, until, live > MANY ? LONG_MOMENT_MS : MOMENT_MS);
      if (heard.length === 0) return unfinished;
      found = { endings: await readEndings(store.query, heard, (one) => known.isTaken(one)), missed: [] };
    }
  };

  const advanceRuns = async ({ run_ids, endings: heard, missed }: Due) => {
    // How they ended can be read while the runs are being claimed: it does not change any more.
    const reading = readEndings(store.query, heard, (one) => known.isTaken(one));
    reading.catch(() => undefined);
    const work = store.transact(async (query) => {
      const turns: Turns = await known.open(query, await claimPlanRuns(query, run_ids));
      const calls = new Calls(backbone, query, turns);
      try {
        const claimed = missed.filter((run_id) => turns.has(run_id));
        const unfinished = await advanceClaimed(query, turns, calls, { endings: await reading, missed: claimed });
        await calls.inserted();
        await keep(backbone, query, [...turns.values()]);
        return { turns, unfinished, ...calls.sent() };
      } finally {
        // Whoever has the run next, to cancel it perhaps, finds all calls that there will be.
        await calls.settled();
      }
    });
    const { turns, unfinished, committed, later, begun } = await work.catch((error: unknown) => {
      known.forget(run_ids);
      throw error;
    });
    known.keep(turns.values());
    const elsewhere = run_ids.filter((run_id) => !turns.has(run_id));
    agenda.stand(elsewhere, () => 0);
    for (const run_id of elsewhere) idle.again(run_id);
    for (const run_id of unfinished) agenda.lookAt(run_id);
    // Of what another turn had begun, the end may have been heard of already.
    for (const run_id of begun) {
      agenda.miss(run_id);
      agenda.lookAt(run_id);
    }
    // Another has them at the moment; what was heard is looked up when it is this one's turn again.
    for (const { run_id } of heard) if (!turns.has(run_id)) agenda.miss(run_id);
    const changed = [...turns.keys()];
    if (!relay.riding('changed', changed)) relay.publish('changed', changed);
    if (later) relay.publish('due', ['now']);
    for (const tell of committed) tell();
  };

  /** One of them cannot go on, and the others shall not wait for it. */
  const advanceEach = async ({ run_ids, endings }: Due) => {
    for (const run_id of run_ids)
      await advanceRuns({
        run_ids: [run_id],
        endings: endings.filter((one) => one.run_id === run_id),
        missed: [run_id],
      }).catch((reason: unknown) => giveUp(backbone, run_id, reason));
  };

  return {
    hear: (invocation_ids) => {
      const due = agenda.hear(invocation_ids);
      if (due !== 'never') bell.ring();
      return due;
    },
    look: (ids) => {
      const runs = ids.filter((id) => id.startsWith('run_'));
      for (const run_id of runs) agenda.lookAt(run_id);
      bell.ring();
      return runs.length > 0;
    },
    turn: async () => {
      const due = agenda.take();
      if (due.run_ids.length === 0) return 0;
      const began = performance.now();
      rested_ms = 0;
      try {
        await advanceRuns(due);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        log.warn({ err: error, runs: due.run_ids.length }, 'plans could not be advanced together');
        await advanceEach(due);
      }
      turn_ms = performance.now() - began - rested_ms;
      return agenda.urgent;
    },
    sweep: async () => {
      const { stuck, suspects } = await idle.find();
      for (const run_id of stuck) {
        agenda.lookAt(run_id);
        agenda.miss(run_id);
      }
      return { stuck: stuck.length, suspects };
    },
    lastTurnMs: () => turn_ms,
    idle: () => backbone.dispatcher.idle(),
  };
}

/** Nothing waits for ever: what cannot be advanced fails. */
async function giveUp({ store, log }: Backbone, run_id: string, error: unknown): Promise<void> {
  log.error({ err: error, run_id }, 'a plan could not be advanced');
  if (isUnavailable(error)) return;
  await stopPlanRun(store, run_id, error instanceof Error ? error.message : String(error));
}

import type { Backbone } from '@capstan/backbone';
import {
  dropPending,
  endElements,
  endSteps,
  findMissedEndings,
  findReadySteps,
  type HeardEnding,
  keepReady,
  meetNeeds,
  moveSteps,
  type Query,
  type ReadyStep,
  savePlanRuns,
} from '@capstan/store';
import { CHUNK, type RunTurn } from './run-turn.js';
import { type Started, startSteps } from './start-steps.js';

/** So many rounds of steps that end as they start, and then others have their turn. */
const MAX_ROUNDS = 20;
const MAX_ENDINGS = 10_000;

export type Heard = Omit<HeardEnding, 'seq' | 'waits' | 'dependents'>;
export type Advanced = Started & {
  /** Runs with more to do than one turn does. */
  unfinished: ReadonlySet<string>;
};
type Turns = ReadonlyMap<string, RunTurn>;

/**
 * A turn of claimed runs, within their transaction: take over what ended → start what is ready by it → until nothing more
 * follows → keep it. Every statement is over all runs and steps at once, and its work is that of the steps that move,
 * however large the plans are.
 */
export async function advance(
  parts: Pick<Backbone, 'catalog' | 'queue' | 'relay' | 'rules'>,
  query: Query,
  turns: Turns,
  heard: readonly Heard[],
  missed: readonly string[],
): Promise<Advanced> {
  const all = [...turns.values()];
  const found = await findMissedEndings(query, missed, MAX_ENDINGS);
  const started: Started = { moves: [], boxes: [], later: false };
  const first = await takeOver(query, turns, [...heard, ...found]);
  const unfinished = new Set([...first.left, ...(found.length === MAX_ENDINGS ? missed : [])]);
  let { ready } = first;
  for (let round = 1; ; round += 1) {
    await follow(query, turns, started);
    await drop(query, turns, started);
    const next = await findReady(query, turns, ready, started);
    ready = next.ready;
    if (ready.length === 0) break;
    const follows = await startSteps(parts, query, turns, ready, started);
    if (next.full || (follows && round === MAX_ROUNDS)) {
      for (const { run_id } of ready) unfinished.add(run_id);
      await follow(query, turns, started);
      break;
    }
    if (!follows) break;
    for (const { run_id } of ready) markUnsure(turns, run_id);
    ready = [];
  }
  const saved = all.map((turn) => turn.save());
  const signals = parts.relay.riding('changed', [...turns.keys()]) ?? [];
  await savePlanRuns(query, saved, started.moves, signals);
  return { ...started, unfinished };
}

function markUnsure(turns: Turns, run_id: string): void {
  const turn = turns.get(run_id);
  if (turn) turn.unsure = true;
}

/** Answers what has become ready by it, and the runs in which more has than a turn starts. */
async function takeOver(
  query: Query,
  turns: Turns,
  heard: readonly Heard[],
): Promise<{ ready: ReadyStep[]; left: string[] }> {
  const placed = heard.flatMap((one) => {
    const turn = turns.get(one.run_id);
    if (!turn) return [];
    // Elements are counted for their step, and only with the last of them has it ended.
    const dependents = one.element >= 0 ? [] : turn.step(one.step).dependents;
    return [{ ...one, seq: turn.nextSeq(), waits: turn.waitsFor(one.step), dependents }];
  });
  const { ended, ready, left } = await endSteps(query, placed, CHUNK);
  for (const row of ended) {
    const turn = turns.get(row.run_id);
    if (!turn) continue;
    turn.row.live -= 1;
    turn.row.ended += 1;
    turn.ended(row, row.error, true);
  }
  return { ready, left };
}

/**
 * Of a run about which nothing else is to be known, what became ready just now is all there is: everything else was started
 * when it became ready. Of the others it is looked up, an equal share for each: a large run keeps none of them waiting.
 * Answers as well whether there may be more.
 */
async function findReady(
  query: Query,
  turns: Turns,
  known: readonly ReadyStep[],
  started: Started,
): Promise<{ ready: ReadyStep[]; full: boolean }> {
  const all = [...turns.values()].filter((turn) => turn.room() > 0);
  const asked = all.filter((turn) => turn.unsure);
  const sure = new Set(all.filter((turn) => !asked.includes(turn)).map(({ row }) => row.run_id));
  await keepReady(
    query,
    known.filter(({ run_id }) => !sure.has(run_id)),
  );
  if (asked.length > 0) await flush(query, started);
  const share = Math.ceil(CHUNK / asked.length);
  const rooms = asked.map((turn) => ({ run_id: turn.row.run_id, room: Math.min(turn.room(), share) }));
  const found = await findReadySteps(query, rooms);
  for (const turn of asked) turn.unsure = turn.row.max_parallel !== null;
  const ready = [...known.filter(({ run_id }) => sure.has(run_id)), ...found];
  return { ready, full: ready.length >= CHUNK || found.length >= share };
}

/** What is read next has to see what was decided before. */
async function flush(query: Query, started: Started): Promise<void> {
  await moveSteps(query, started.moves.splice(0));
}

/** Elements end their step, steps make others ready. */
async function follow(query: Query, turns: Turns, started: Started): Promise<void> {
  const all = [...turns.values()];
  const elements = all.flatMap((turn) => turn.takeElements());
  for (const row of await endElements(query, elements)) turns.get(row.run_id)?.ended(row, null);
  const met = all.flatMap((turn) => turn.takeMet());
  if (met.length === 0) return;
  await flush(query, started);
  await meetNeeds(query, met);
  for (const { run_id } of met) markUnsure(turns, run_id);
}

/** What is to stop starts nothing more. */
async function drop(query: Query, turns: Turns, started: Started): Promise<void> {
  const stopping = [...turns.values()].filter(({ row }) => row.stopping && !row.dropped);
  if (stopping.length === 0) return;
  await flush(query, started);
  const dropped = await dropPending(
    query,
    stopping.map(({ row }) => ({
      run_id: row.run_id,
      seq: row.seq,
      ...(row.stopping === 'canceled'
        ? { status: 'canceled' as const, reason: 'the run was canceled' }
        : { status: 'skipped' as const, reason: 'a step before it failed' }),
    })),
  );
  for (const { run_id, step, of_elements, count } of dropped) {
    const turn = turns.get(run_id);
    if (!turn) continue;
    const canceled = turn.row.stopping === 'canceled';
    turn.row.seq += count;
    turn.row.unended -= count;
    turn.more.live -= count;
    if (canceled) turn.row.ended += count;
    turn.more[canceled ? 'canceled' : 'skipped'] += count;
    if (of_elements) turn.countElements(step, count, canceled ? count : 0);
  }
  for (const { row } of stopping) row.dropped = true;
  // What waited to be resolved is not waited for any more.
  const run_ids = stopping.map(({ row }) => row.run_id);
  await takeOver(query, turns, await findMissedEndings(query, run_ids, MAX_ENDINGS));
  await follow(query, turns, started);
}

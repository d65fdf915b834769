import {
  type Ending,
  endFans,
  findBegun,
  findMissedEndings,
  moveSteps,
  type Query,
  readEndings,
  savePlanRuns,
} from '@capstan/store';
import { callOf } from './begun.js';
import type { Calls } from './calls.js';
import type { Parts } from './parts.js';
import { CHUNK, type RunTurn } from './run-turn.js';
import { type ReadyStep, startSteps } from './start-steps.js';

/** So many rounds of steps that end as they start, and then others have their turn. */
const MAX_ROUNDS = 20;
const MAX_ENDINGS = 10_000;

export type Turns = ReadonlyMap<string, RunTurn>;
type Found = { endings: readonly Ending[]; missed: readonly string[] };

/**
 * Part of a turn of claimed runs, within their transaction: take over what ended → start what is ready by it → until nothing
 * more follows. Every statement is over all runs and steps at once, and its work is that of the steps that move, however
 * large the plans are. Answers the runs with more to do than one turn does.
 */
export async function advance(
  parts: Parts,
  query: Query,
  turns: Turns,
  calls: Calls,
  { endings, missed }: Found,
): Promise<Set<string>> {
  const found = await findMissed(query, missed);
  takeOver(turns, [...endings, ...found]);
  let room = CHUNK;
  for (let round = 0; round < MAX_ROUNDS && room > 0; round += 1) {
    await drop(query, turns);
    const ready = takeReady(turns, room);
    if (ready.length === 0) break;
    room -= ready.length;
    await startSteps(parts, query, turns, calls, { ready, endings });
  }
  await drop(query, turns);
  const unfinished = new Set<string>();
  for (const turn of turns.values()) if (turn.canStart()) unfinished.add(turn.run_id);
  if (found.length === MAX_ENDINGS) for (const run_id of missed) unfinished.add(run_id);
  return unfinished;
}

async function findMissed(query: Query, run_ids: readonly string[]): Promise<Ending[]> {
  return readEndings(query, await findMissedEndings(query, run_ids, MAX_ENDINGS), () => false);
}

function takeOver(turns: Turns, endings: readonly Ending[]): void {
  for (const ending of endings) turns.get(ending.run_id)?.takeOver(ending);
}

/** An equal share for each run: a large one keeps none waiting. */
function takeReady(turns: Turns, most: number): ReadyStep[] {
  const able = [...turns.values()].filter((turn) => turn.canStart());
  const share = Math.ceil(most / able.length);
  return able.flatMap((turn) =>
    turn.state.takeReady(Math.min(turn.room(), share)).map((place) => ({ run_id: turn.run_id, ...place })),
  );
}

/** What is to stop starts nothing more. */
async function drop(query: Query, turns: Turns): Promise<void> {
  const stopping = [...turns.values()].filter(({ row }) => row.stopping && !row.dropped);
  if (stopping.length === 0) return;
  const pending = stopping.flatMap(({ run_id, state }) => state.pending().map((place) => ({ run_id, ...place })));
  const begun = await findBegun(query, pending.map(callOf));
  for (const turn of stopping) turn.drop((place) => begun.has(callOf({ run_id: turn.run_id, ...place })));
  // What has begun has to be known there; and what waited to be resolved is not waited for any more.
  await flush(query, stopping);
  takeOver(
    turns,
    await findMissed(
      query,
      stopping.map(({ run_id }) => run_id),
    ),
  );
}

async function flush(query: Query, turns: readonly RunTurn[]): Promise<void> {
  await moveSteps(
    query,
    turns.flatMap((turn) => turn.takeMoves()),
  );
}

/** While workers work, so that less is left for the end. */
export async function writeEnded(query: Query, turns: Turns): Promise<void> {
  await moveSteps(
    query,
    [...turns.values()].flatMap((turn) => turn.takeEnded()),
  );
}

/** What the turn came to. */
export async function keep({ relay }: Parts, query: Query, turns: readonly RunTurn[]): Promise<void> {
  await endFans(
    query,
    turns.flatMap((turn) => turn.ended_fans),
  );
  const saved = turns.map((turn) => turn.save());
  const moves = turns.flatMap((turn) => turn.takeMoves());
  const signals = relay.riding(
    'changed',
    turns.map(({ run_id }) => run_id),
  );
  await savePlanRuns(query, saved, moves, signals ?? []);
}

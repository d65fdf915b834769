import type { Query } from '@capstan/store';
import {
  type Ending,
  endFans,
  findBegun,
  findMissedEndings,
  moveSteps,
  readEndings,
  savePlanRuns,
} from '@capstan/store/plan';
import type { CallWriter } from './call-writer.js';
import type { Parts } from './parts.js';
import { CHUNK, type RunTurn } from './run-turn.js';
import { callOf, type ReadyStep, startSteps } from './start-steps.js';

/** The most rounds in one turn. A step that ends as it starts makes others ready, and other runs must get their turn. */
const MAX_ROUNDS = 20;
const MAX_ENDINGS = 10_000;

export type Turns = ReadonlyMap<string, RunTurn>;
type Found = { endings: readonly Ending[]; missed: readonly string[] };

/**
 * One part of a turn, in its transaction: applies completions, starts the steps they make ready, and repeats until none are left.
 * Each statement covers all runs at once and costs only the steps that change, however large the plans are. Returns the runs with
 * work left for another turn.
 */
export async function advance(
  parts: Parts,
  query: Query,
  turns: Turns,
  calls: CallWriter,
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

/** Takes an equal share of ready steps from each run, so that a large run does not delay the others. */
function takeReady(turns: Turns, most: number): ReadyStep[] {
  const able = [...turns.values()].filter((turn) => turn.canStart());
  const share = Math.ceil(most / able.length);
  return able.flatMap((turn) =>
    turn.state.takeReady(Math.min(turn.room(), share)).map((place) => ({ run_id: turn.run_id, ...place })),
  );
}

/** Drops the pending steps of runs that are stopping. */
async function drop(query: Query, turns: Turns): Promise<void> {
  const stopping = [...turns.values()].filter(({ row }) => row.stopping && !row.dropped);
  if (stopping.length === 0) return;
  const pending = stopping.flatMap(({ run_id, state }) => state.pending().map((place) => ({ run_id, ...place })));
  const begun = await findBegun(query, pending.map(callOf));
  for (const turn of stopping) turn.drop((place) => begun.has(callOf({ run_id: turn.run_id, ...place })));
  // Steps found to be running must be written before their completions can be looked up. The lookup also returns ambiguous steps,
  // which a stopping run no longer waits for.
  await moveSteps(
    query,
    stopping.flatMap((turn) => turn.takeMoves()),
  );
  takeOver(
    turns,
    await findMissed(
      query,
      stopping.map(({ run_id }) => run_id),
    ),
  );
}

/** Writes ended steps while the workers are busy, so that less is left to write at the end of the turn. */
export async function writeEnded(query: Query, turns: Turns): Promise<void> {
  await moveSteps(
    query,
    [...turns.values()].flatMap((turn) => turn.takeEnded()),
  );
}

/** Writes the changes of the turn. */
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

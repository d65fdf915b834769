import { isTerminal } from '@capstan/contracts';
import { type Prepared, prepareStep } from '@capstan/plan';
import { type Ending, fanOutStep, type Query, type StepKey } from '@capstan/store';
import { type Admission, openAdmission } from './admit-steps.js';
import type { Turns } from './advance.js';
import { Begun } from './begun.js';
import type { Calls } from './calls.js';
import type { Parts } from './parts.js';
import { readContexts } from './read-contexts.js';
import type { RunTurn } from './run-turn.js';

export type ReadyStep = StepKey;
type ToStart = { ready: readonly ReadyStep[]; endings: readonly Ending[] };

/** Calls what is ready, fans it out, or ends it as it is. */
export async function startSteps(
  parts: Parts,
  query: Query,
  turns: Turns,
  calls: Calls,
  { ready, endings }: ToStart,
): Promise<void> {
  const [begun, contexts] = await Promise.all([
    Begun.among(parts.store.query, turns, ready),
    readContexts(query, turns, ready, endings),
  ]);
  const admission = openAdmission(parts);
  for (const one of ready) {
    const turn = turns.get(one.run_id);
    // One before it in this very batch has failed: it is dropped with all that is pending.
    if (!turn || turn.row.stopping) continue;
    if (begun.has(one)) {
      adopt(calls, turn, one);
      continue;
    }
    const { context, element } = contexts(turn, one);
    const prepared = prepareStep(turn.step(one.step), context, element);
    if (prepared.kind === 'fan_out' && prepared.items.length > 0) {
      await fanOutStep(query, { ...one, ...turn.titleOf(one.step), seq: turn.nextSeq() }, prepared.items);
      turn.fanOut(one.step, prepared.items.length);
    } else await decide({ admission, calls, begun }, turn, one, prepared);
  }
  calls.push();
}

function adopt(calls: Calls, turn: RunTurn, one: ReadyStep): void {
  turn.start(one);
  calls.note(one.run_id);
}

/** Admits what is to be called; everything else has ended with this. */
async function decide(
  { admission, calls, begun }: { admission: Admission; calls: Calls; begun: Begun },
  turn: RunTurn,
  one: ReadyStep,
  prepared: Prepared,
): Promise<void> {
  if (prepared.kind === 'skip') return turn.endUncalled(one, 'skipped', prepared.reason);
  if (prepared.kind === 'fail') return turn.endUncalled(one, 'failed', prepared.reason);
  if (prepared.kind === 'fan_out') return turn.endUncalled(one, 'succeeded', 'there is no element');
  const step = turn.step(one.step);
  const element = one.element < 0 ? null : one.element;
  const admitted = await admission.admit(turn.policy, { run: turn.row, step, element, inputs: prepared.inputs });
  const refused = !admitted.ok || isTerminal(admitted.row.status);
  if (refused && (await begun.surely(one))) return adopt(calls, turn, one);
  if (!admitted.ok) return turn.endUncalled(one, 'failed', admitted.reason);
  const { row } = admitted;
  if (refused) turn.endUncalled(one, 'denied', row.decision.reason);
  else turn.start(one);
  await calls.add(row, { with_turn: turn.fanned.has(one.step) });
}

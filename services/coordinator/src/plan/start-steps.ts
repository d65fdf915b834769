import { isTerminal, stepInvocationId } from '@capstan/contracts';
import { type Prepared, prepareStep } from '@capstan/plan';
import { type Ending, fanOutStep, findBegun, type Query, type StepKey } from '@capstan/store';
import { type Admission, openAdmission } from './admit-steps.js';
import type { Turns } from './advance.js';
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
  const begun = await findBegun(query, idsOfUnsure(turns, ready));
  const contexts = await readContexts(query, turns, ready, endings);
  const admission = openAdmission(parts);
  for (const one of ready) {
    const turn = turns.get(one.run_id);
    // One before it in this very batch has failed: it is dropped with all that is pending.
    if (!turn || turn.row.stopping) continue;
    if (begun.has(idOf(one))) {
      turn.start(one);
      calls.note(one.run_id);
      continue;
    }
    const { context, element } = contexts(turn, one);
    const prepared = prepareStep(turn.step(one.step), context, element);
    if (prepared.kind === 'fan_out' && prepared.items.length > 0) {
      await fanOutStep(query, { ...one, seq: turn.nextSeq() }, prepared.items);
      turn.fanOut(one.step, prepared.items.length);
    } else await decide(admission, calls, turn, one, prepared);
  }
  calls.flush();
}

const idOf = ({ run_id, step, element }: StepKey): string =>
  stepInvocationId(run_id, step, element < 0 ? null : element);

/** Elements that this turn made cannot have been begun by another. */
const idsOfUnsure = (turns: Turns, ready: readonly ReadyStep[]): string[] =>
  ready.flatMap((one) => {
    const turn = turns.get(one.run_id);
    return turn?.unsure && !turn.fanned.has(one.step) ? [idOf(one)] : [];
  });

/** Admits what is to be called; everything else has ended with this. */
async function decide(
  admission: Admission,
  calls: Calls,
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
  if (!admitted.ok) return turn.endUncalled(one, 'failed', admitted.reason);
  const { row } = admitted;
  if (isTerminal(row.status)) turn.endUncalled(one, 'denied', row.decision.reason);
  else turn.start(one);
  await calls.add(row, { with_turn: turn.fanned.has(one.step) });
}

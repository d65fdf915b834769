import { type Json, type StepStatus, stepInvocationId } from '@capstan/contracts';
import type { CompiledStep, EndedStep, StepContext } from '@capstan/plan';
import type { Query } from '@capstan/store';
import { type Ending, type Item, readItems, readPayloads, type StepKey } from '@capstan/store/plan';
import type { Turns } from './advance.js';
import type { RunTurn } from './run-turn.js';

type Element = { item: Json; index: number } | null;
type ContextOf = (turn: RunTurn, one: StepKey) => { context: StepContext; element: Element };

/**
 * Reads what ready steps refer to: the outputs of ended steps, and the elements of the lists they are fanned out over. Outputs that
 * the turn already has are not read again.
 */
export async function readContexts(
  query: Query,
  turns: Turns,
  ready: readonly StepKey[],
  endings: readonly Ending[],
): Promise<ContextOf> {
  const taken = takenBy(turns, ready);
  const outputs = new Map<string, Json>();
  for (const { invocation_id, output } of endings) if (output !== undefined) outputs.set(invocation_id, output);
  const missing = [...taken.values()].flatMap(({ turn, step, output }) =>
    output ? callsOf(turn, step).filter((id) => !outputs.has(id)) : [],
  );
  for (const [id, payload] of await readPayloads(query, missing)) outputs.set(id, payload);
  const items = await itemsOf(query, turns, ready);
  const ended = new Map([...taken].map(([key, { turn, step }]) => [key, endedOf(turn, step, outputs)]));
  const contexts = new Map<string, StepContext>();
  return (turn, one) => {
    const key = keyOf(one);
    const context = contexts.get(key) ?? contextOf(turn, one.step, ended);
    contexts.set(key, context);
    return { context, element: one.element < 0 ? null : { item: items(turn, one), index: one.element } };
  };
}

type Taken = { turn: RunTurn; step: number; output: boolean };
const keyOf = ({ run_id, step }: { run_id: string; step: number }): string => `${run_id} ${step}`;

/** The steps that the ready ones refer to, each once: many may refer to the same step, which may have thousands of elements. */
function takenBy(turns: Turns, ready: readonly StepKey[]): Map<string, Taken> {
  const taken = new Map<string, Taken>();
  const seen = new Set<string>();
  for (const one of ready) {
    const turn = turns.get(one.run_id);
    if (!turn || seen.has(keyOf(one))) continue;
    seen.add(keyOf(one));
    for (const { step, output } of readsOf(turn.step(one.step))) {
      const key = keyOf({ run_id: one.run_id, step });
      taken.set(key, { turn, step, output: output || (taken.get(key)?.output ?? false) });
    }
  }
  return taken;
}

const readsOf = ({ reads }: CompiledStep) => [...reads.before, ...reads.args];

/** The invocation ids of a step, or of all its elements. */
function callsOf({ run_id, state }: RunTurn, step: number): string[] {
  const fan = state.fanOf(step);
  if (!fan) return [stepInvocationId(run_id, step, null)];
  return Array.from({ length: fan.elements }, (_, element) => stepInvocationId(run_id, step, element));
}

function contextOf(turn: RunTurn, index: number, ended: ReadonlyMap<string, EndedStep>): StepContext {
  const endedOne = (step: number) => ended.get(keyOf({ run_id: turn.run_id, step }));
  const steps: Record<string, EndedStep> = {};
  for (const { step } of readsOf(turn.step(index))) {
    const one = endedOne(step);
    if (one) steps[turn.step(step).id] = one;
  }
  return { inputs: turn.inputs, steps, ended: endedOne };
}

function endedOf(turn: RunTurn, step: number, outputs: ReadonlyMap<string, Json>): EndedStep {
  const stands = turn.state.statusOf(step);
  const status: StepStatus = stands === 'started' ? 'running' : stands;
  const fan = turn.state.fanOf(step);
  const calls = fan || turn.step(step).for_each === null ? callsOf(turn, step) : [];
  const [output = null, ...more] = calls.map((id) => outputs.get(id) ?? null);
  if (turn.step(step).for_each === null) return { status, output };
  return { status, outputs: calls.length === 0 ? [] : [output, ...more] };
}

/** Reads the list items of ready elements. A list written in the plan is not read; items of other lists are stored with the elements. */
async function itemsOf(query: Query, turns: Turns, ready: readonly StepKey[]) {
  const listOf = (one: StepKey) => turns.get(one.run_id)?.step(one.step).for_each;
  const kept = new Map<string, Item>();
  const placeOf = (one: StepKey) => `${keyOf(one)} ${one.element}`;
  const asked = ready.filter((one) => one.element >= 0 && !Array.isArray(listOf(one)));
  for (const item of await readItems(query, asked)) kept.set(placeOf(item), item);
  return (turn: RunTurn, one: StepKey): Json => {
    const list = turn.step(one.step).for_each;
    return (Array.isArray(list) ? list[one.element] : kept.get(placeOf(one))?.item) ?? null;
  };
}

import { type Json, type StepStatus, stepInvocationId } from '@capstan/contracts';
import type { CompiledStep, EndedStep, StepContext } from '@capstan/plan';
import { type Ending, type Item, type Query, readItems, readPayloads, type StepKey } from '@capstan/store';
import type { Turns } from './advance.js';
import type { RunTurn } from './run-turn.js';

type Element = { item: Json; index: number } | null;
type ContextOf = (turn: RunTurn, one: StepKey) => { context: StepContext; element: Element };

/**
 * What steps that are ready take: of others that ended before, and of the lists that they are fanned out over. What the turn
 * has at hand is not read again.
 */
export async function readContexts(
  query: Query,
  turns: Turns,
  ready: readonly StepKey[],
  endings: readonly Ending[],
): Promise<ContextOf> {
  const outputs = new Map<string, Json>();
  for (const { invocation_id, output } of endings) if (output !== undefined) outputs.set(invocation_id, output);
  const missing = new Set<string>();
  for (const { run_id, step } of ready) {
    const turn = turns.get(run_id);
    for (const read of readsOf(turn?.step(step)))
      if (turn && read.output) for (const id of callsOf(turn, read.step)) if (!outputs.has(id)) missing.add(id);
  }
  for (const [id, payload] of await readPayloads(query, [...missing])) outputs.set(id, payload);
  const items = await itemsOf(query, turns, ready);
  const contexts = new Map<string, StepContext>();
  return (turn, one) => {
    const key = `${one.run_id} ${one.step}`;
    const context = contexts.get(key) ?? contextOf(turn, one.step, outputs);
    contexts.set(key, context);
    return { context, element: one.element < 0 ? null : { item: items(turn, one), index: one.element } };
  };
}

const readsOf = (step: CompiledStep | undefined) => (step ? [...step.reads.before, ...step.reads.args] : []);

/** Of a step, or of all its elements. */
function callsOf({ run_id, state }: RunTurn, step: number): string[] {
  const fan = state.fanOf(step);
  if (!fan) return [stepInvocationId(run_id, step, null)];
  return Array.from({ length: fan.elements }, (_, element) => stepInvocationId(run_id, step, element));
}

function contextOf(turn: RunTurn, index: number, outputs: ReadonlyMap<string, Json>): StepContext {
  const known = new Map<number, EndedStep>();
  const steps: Record<string, EndedStep> = {};
  for (const { step } of readsOf(turn.step(index))) {
    const ended = known.get(step) ?? endedOf(turn, step, outputs);
    known.set(step, ended);
    steps[turn.step(step).id] = ended;
  }
  return { inputs: turn.inputs, steps, ended: (step) => known.get(step) };
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

/** A list that stands in the plan is at hand; others are kept with the elements. */
async function itemsOf(query: Query, turns: Turns, ready: readonly StepKey[]) {
  const listOf = (one: StepKey) => turns.get(one.run_id)?.step(one.step).for_each;
  const kept = new Map<string, Item>();
  const keyOf = ({ run_id, step, element }: StepKey) => `${run_id} ${step} ${element}`;
  const asked = ready.filter((one) => one.element >= 0 && !Array.isArray(listOf(one)));
  for (const item of await readItems(query, asked)) kept.set(keyOf(item), item);
  return (turn: RunTurn, one: StepKey): Json => {
    const list = turn.step(one.step).for_each;
    return (Array.isArray(list) ? list[one.element] : kept.get(keyOf(one))?.item) ?? null;
  };
}

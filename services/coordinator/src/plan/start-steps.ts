import type { Backbone } from '@capstan/backbone';
import { type Delivery, isTerminal, type Json } from '@capstan/contracts';
import { type CompiledStep, type EndedStep, type Prepared, prepareStep, type StepContext } from '@capstan/plan';
import {
  type BoxedDeliveries,
  fanOutStep,
  insertInvocations,
  type NewInvocation,
  type Query,
  type ReadWanted,
  type ReadyStep,
  readStepStates,
  type StepMove,
  type StepState,
} from '@capstan/store';
import { nanoid } from 'nanoid';
import { type Admission, openAdmission } from './admit-steps.js';
import type { RunTurn } from './run-turn.js';

/** What is still to be done, in the transaction and once it is committed. */
export type Started = {
  /** Not written yet: they go with what is written last, unless something is to be read before. */
  moves: StepMove[];
  /** Deliveries that no statement has sent. */
  boxes: BoxedDeliveries[];
  /** Whether something waits for a time. */
  later: boolean;
};

/** Postgres inserts some while the next are being prepared. */
const AT_ONCE = 250;

type Parts = Pick<Backbone, 'catalog' | 'queue' | 'rules'>;

/** Answers whether anything follows at once: a step that ended as it started, or elements of one that was fanned out. */
export async function startSteps(
  parts: Parts,
  query: Query,
  turns: ReadonlyMap<string, RunTurn>,
  ready: readonly ReadyStep[],
  started: Started,
): Promise<boolean> {
  const contexts = await readContexts(query, turns, ready);
  const rows: NewInvocation[] = [];
  const inserting: Promise<void>[] = [];
  const insertSome = async () => {
    const one = insert(parts, query, rows.splice(0), started);
    // Awaited with the others in the end; one that fails before that must not end the process unhandled.
    one.catch(() => undefined);
    inserting.push(one);
    // Sends it.
    await new Promise((resolve) => setImmediate(resolve));
  };
  const moves: StepMove[] = [];
  const admission = openAdmission(parts);
  let follows = false;
  for (const one of ready) {
    const turn = turns.get(one.run_id);
    if (!turn) continue;
    // One before it in this very batch has failed.
    if (turn.row.stopping) {
      follows = true;
      continue;
    }
    const prepared = prepare(turn, one, contexts);
    if (prepared.kind === 'fan_out' && prepared.items.length > 0) {
      await fanOut(query, turn, one, prepared.items);
      follows = true;
      continue;
    }
    const move = await decide(admission, turn, one, prepared, rows);
    moves.push(move);
    if (rows.length === AT_ONCE) await insertSome();
    follows ||= move.status !== 'started';
  }
  started.moves.push(...moves);
  await insertSome();
  await Promise.all(inserting);
  return follows;
}

async function fanOut(query: Query, { row, more }: RunTurn, one: ReadyStep, items: Json[]): Promise<void> {
  await fanOutStep(query, one, items);
  row.unended += items.length;
  // Its elements are counted in its place.
  more.total += items.length - 1;
  more.live += items.length - 1;
}

/** What has to be known of steps that ended before, for all of the ready ones at once. */
async function readContexts(query: Query, turns: ReadonlyMap<string, RunTurn>, ready: readonly ReadyStep[]) {
  const wanted = new Map<string, ReadWanted>();
  for (const { run_id, step } of ready)
    for (const read of readsOf(turns.get(run_id)?.step(step))) {
      const key = `${run_id} ${read.step}`;
      const known = wanted.get(key);
      if (known) known.output ||= read.output;
      else wanted.set(key, { run_id, step: read.step, output: read.output });
    }
  const states = await readStepStates(query, [...wanted.values()]);
  const ended = new Map(states.map((state) => [`${state.run_id} ${state.step}`, toEnded(state, turns)]));
  const contexts = new Map<string, StepContext>();
  return (turn: RunTurn, index: number): StepContext => {
    const { run_id, inputs } = turn.row;
    const key = `${run_id} ${index}`;
    const known = contexts.get(key);
    if (known) return known;
    const endedOf = (step: number) => ended.get(`${run_id} ${step}`);
    const steps: Record<string, EndedStep> = {};
    for (const read of readsOf(turn.step(index))) {
      const state = endedOf(read.step);
      if (state) steps[turn.step(read.step).id] = state;
    }
    const context = { inputs, steps, ended: endedOf };
    contexts.set(key, context);
    return context;
  };
}

const readsOf = (step: CompiledStep | undefined) => (step ? [...step.reads.before, ...step.reads.args] : []);

function toEnded({ run_id, step, status, output, outputs }: StepState, turns: ReadonlyMap<string, RunTurn>): EndedStep {
  const fanned = (turns.get(run_id)?.step(step).for_each ?? null) !== null;
  return fanned ? { status, outputs: outputs ?? [] } : { status, output };
}

function prepare(
  turn: RunTurn,
  { step: index, element, item }: ReadyStep,
  contextOf: (turn: RunTurn, index: number) => StepContext,
): Prepared {
  return prepareStep(turn.step(index), contextOf(turn, index), element < 0 ? null : { item, index: element });
}

/** Admits what is to be called; everything else has ended with this. */
async function decide(
  admission: Admission,
  turn: RunTurn,
  one: ReadyStep,
  prepared: Prepared,
  rows: NewInvocation[],
): Promise<StepMove> {
  const { row, more } = turn;
  const step = turn.step(one.step);
  const move = (status: StepMove['status'], reason: string | null, has_invocation = false): StepMove => {
    const { run_id, step: index, element } = one;
    return {
      run_id,
      step: index,
      element,
      status,
      reason: reason && storable(reason),
      has_invocation,
      seq: turn.nextSeq(),
    };
  };
  const end = (
    status: 'skipped' | 'failed' | 'denied' | 'succeeded',
    reason: string | null,
    has_invocation = false,
  ) => {
    more.live -= 1;
    if (status !== 'skipped') row.ended += 1;
    more[COUNTED[status]] += 1;
    turn.ended({ ...one, status }, reason);
    return move(status, reason, has_invocation);
  };
  if (prepared.kind === 'skip') return end('skipped', prepared.reason);
  if (prepared.kind === 'fail') return end('failed', prepared.reason);
  if (prepared.kind === 'fan_out') return end('succeeded', 'there is no element');
  const admitted = await admission.admit(turn.policy, {
    run: row,
    step,
    element: one.element < 0 ? null : one.element,
    inputs: prepared.inputs,
  });
  if (!admitted.ok) return end('failed', admitted.reason);
  rows.push(admitted.row);
  if (isTerminal(admitted.row.status)) return end('denied', admitted.row.decision.reason, true);
  row.calls[admitted.row.tool_id] = (row.calls[admitted.row.tool_id] ?? 0) + 1;
  row.live += 1;
  return move('started', null, true);
}

const COUNTED = { skipped: 'skipped', failed: 'failed', denied: 'denied', succeeded: 'completed' } as const;

/** A reason may quote what a tool answered: short, and nothing that Postgres refuses. */
const storable = (text: string): string => text.slice(0, 1000).toWellFormed().replaceAll('\u0000', '\ufffd');

async function insert({ queue }: Parts, query: Query, rows: NewInvocation[], started: Started): Promise<void> {
  if (rows.length === 0) return;
  const deliveries: Delivery[] = rows
    .filter(({ status }) => status === 'queued')
    .map(({ invocation_id, runner, priority }) => ({ invocation_id, runner, attempt: 0, priority }));
  const signals = queue.riding(deliveries);
  const outbox = queue.needs_outbox && deliveries.length > 0 ? { outbox_id: nanoid(), deliveries } : null;
  await insertInvocations({ query }, rows, { outbox, ...(signals && { signals }) });
  started.later ||= rows.some(({ status, expires_in_ms }) => status === 'deferred' || expires_in_ms !== null);
  if (outbox && !signals) started.boxes.push(outbox);
}

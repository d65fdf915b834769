import type { Backbone } from '@capstan/backbone';
import { isTerminal, type JsonObject, stepInvocationId } from '@capstan/contracts';
import { type CompiledStep, type Prepared, prepareStep } from '@capstan/plan';
import type { CompiledPolicy } from '@capstan/policy';
import type { Query } from '@capstan/store';
import { type ClaimedRun, type Ending, fanOutStep, findBegun, type StepKey } from '@capstan/store/plan';
import { type Admitted, admitUnsent } from '../admit-unsent.js';
import type { Turns } from './advance.js';
import type { CallWriter } from './call-writer.js';
import type { Parts } from './parts.js';
import { readContexts } from './read-contexts.js';
import type { RunTurn } from './run-turn.js';

export type ReadyStep = StepKey;
type ToStart = { ready: readonly ReadyStep[]; endings: readonly Ending[] };

/** Calls each ready step, fans it out, or ends it without a call. */
export async function startSteps(
  parts: Parts,
  query: Query,
  turns: Turns,
  calls: CallWriter,
  { ready, endings }: ToStart,
): Promise<void> {
  const [begun, contexts] = await Promise.all([
    Begun.among(parts.store.query, turns, ready),
    readContexts(query, turns, ready, endings),
  ]);
  const admission = openAdmission(parts);
  for (const one of ready) {
    const turn = turns.get(one.run_id);
    // An earlier step of this batch has failed, so this one is dropped with the other pending steps.
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

function adopt(calls: CallWriter, turn: RunTurn, one: ReadyStep): void {
  turn.start(one);
  calls.note(one.run_id);
}

/** Admits a step that needs a call, and ends one that does not. */
async function decide(
  { admission, calls, begun }: { admission: Admission; calls: CallWriter; begun: Begun },
  turn: RunTurn,
  one: ReadyStep,
  prepared: Prepared,
): Promise<void> {
  if (prepared.kind === 'skip') return turn.endUncalled(one, 'skipped', prepared.reason);
  if (prepared.kind === 'fail') return turn.endUncalled(one, 'failed', prepared.reason);
  if (prepared.kind === 'fan_out') return turn.endUncalled(one, 'succeeded', 'the list is empty');
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

/** Returns the invocation id of a step. */
export const callOf = ({ run_id, step, element }: StepKey): string =>
  stepInvocationId(run_id, step, element < 0 ? null : element);

/** The ready steps that a lost turn has already called. */
class Begun {
  readonly #query: Query;
  /** Calls of runs whose cached state is current. They are looked up only if a step would be refused. */
  readonly #unasked: string[];
  readonly #found: Set<string>;

  private constructor(query: Query, unasked: string[], found: Set<string>) {
    this.#query = query;
    this.#unasked = unasked;
    this.#found = found;
  }

  static async among(query: Query, turns: Turns, ready: readonly StepKey[]): Promise<Begun> {
    const asked: string[] = [];
    const unasked: string[] = [];
    for (const one of ready) {
      const turn = turns.get(one.run_id);
      // Elements created in this turn cannot have been called.
      if (turn && !turn.fanned.has(one.step)) (turn.unsure ? asked : unasked).push(callOf(one));
    }
    return new Begun(query, unasked, await findBegun(query, asked));
  }

  has(one: StepKey): boolean {
    return this.#found.has(callOf(one));
  }

  /**
   * Also looks up the calls that were not looked up at first. Needed only before a step is refused, because inserting an existing
   * call again has no effect. A call can be the only trace of another coordinator's turn that was rolled back.
   */
  async surely(one: StepKey): Promise<boolean> {
    for (const id of await findBegun(this.#query, this.#unasked.splice(0))) this.#found.add(id);
    return this.has(one);
  }
}

/** A step to call. */
type StepCall = { run: ClaimedRun; step: CompiledStep; element: number | null; inputs: JsonObject };

const DEFAULT_BACKOFF_MS = 500;

/** Admits the steps that are started together. */
type Admission = { admit(policy: CompiledPolicy, call: StepCall): Promise<Admitted> };

/** The approval of a plan may not have reached this process yet, so the rules are refreshed once before a step is denied for it. */
function openAdmission(parts: Pick<Backbone, 'catalog' | 'rules'>): Admission {
  let looked = false;
  return {
    admit: async (policy, call) => {
      const admitted = admitStep(parts, policy, call);
      if (looked || !admitted.ok || admitted.row.decision.code !== 'SPEC_HASH_MISMATCH') return admitted;
      looked = true;
      await parts.rules.refresh();
      return admitStep(parts, policy, call);
    },
  };
}

/** Admits a step under the policy version of its run. */
function admitStep(
  parts: Pick<Backbone, 'catalog' | 'rules'>,
  policy: CompiledPolicy,
  { run, step, element, inputs }: StepCall,
): Admitted {
  const call = {
    invocation_id: stepInvocationId(run.run_id, step.index, element),
    run_id: run.run_id,
    tenant: run.tenant,
    actor: run.actor,
    roles: run.roles,
    tool_id: step.tool_id,
    inputs,
    labels: run.labels,
    session_id: run.session_id,
    // A plan cannot change after it is submitted, so it is a frozen specification for its steps.
    spec_frozen: true,
    spec_hash: run.plan_hash,
    timeout_ms: step.timeout_ms,
    max_attempts: step.retry?.max_attempts,
    retry_backoff_ms: step.retry ? (step.retry.backoff_ms ?? DEFAULT_BACKOFF_MS) : null,
  };
  return admitUnsent(parts, policy, call, (tool_id) => ({
    calls_of_tool: run.calls[tool_id] ?? 0,
    run_elapsed_ms: run.elapsed_ms,
  }));
}

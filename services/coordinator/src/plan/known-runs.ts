import { type CompiledPlan, compilePlan } from '@capstan/plan';
import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import {
  type ClaimedRun,
  type Heard,
  loadPlan,
  policyByHash,
  type Query,
  readMovedSteps,
  type Store,
} from '@capstan/store';
import { Kept } from '../kept.js';
import { RunState } from './run-state.js';
import { RunTurn } from './run-turn.js';

/** A step takes a kilobyte or two, compiled. */
const KEPT_STEPS = 200_000;
const KEPT_POLICIES = 500;

/** What this process knows by heart of runs that it has advanced. Whatever is missing is read again. */
export class KnownRuns {
  readonly #store: Store;
  readonly #states = new Kept<RunState>(KEPT_STEPS, ({ plan }) => plan.steps.length);
  readonly #plans = new Kept<CompiledPlan>(KEPT_STEPS, ({ steps }) => steps.length);
  readonly #policies = new Kept<CompiledPolicy>(KEPT_POLICIES);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether later steps take its output, as far as is known. */
  isTaken({ run_id, step, element }: Heard): boolean {
    return element < 0 && (this.#states.peek(run_id)?.plan.taken.has(step) ?? false);
  }

  /** A turn for each, with what has moved since the last one that this process knows of. */
  async open(query: Query, rows: readonly ClaimedRun[]): Promise<Map<string, RunTurn>> {
    const turns = new Map<string, RunTurn>();
    const behind: { run_id: string; seq: number }[] = [];
    for (const row of rows) {
      const { run_id } = row;
      const state = await this.#states.get(run_id, async () => new RunState(await this.#plan(row)));
      const turn = new RunTurn(row, state, await this.#policy(row.policy_hash));
      if (turn.unsure) behind.push({ run_id, seq: state.seq });
      turns.set(run_id, turn);
    }
    for (const moved of await readMovedSteps(query, behind)) turns.get(moved.run_id)?.state.apply(moved);
    return turns;
  }

  keep(turns: Iterable<RunTurn>): void {
    for (const { run_id, row, state } of turns)
      if (row.unended > 0) state.seq = row.seq;
      else this.#states.forget(run_id);
  }

  /** What a turn that failed has made of them is not so. */
  forget(run_ids: readonly string[]): void {
    for (const run_id of run_ids) this.#states.forget(run_id);
  }

  #plan({ plan_hash, run_id }: ClaimedRun): Promise<CompiledPlan> {
    return this.#plans.get(plan_hash, async () => compilePlan(await loadPlan(this.#store.db, run_id)));
  }

  #policy(hash: string): Promise<CompiledPolicy> {
    return this.#policies.get(hash, async () => {
      const found = await policyByHash(this.#store.db, hash);
      if (!found) throw new Error(`no policy has the hash ${hash}`);
      return compilePolicy(found.document);
    });
  }
}

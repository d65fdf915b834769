import { type CompiledPlan, compilePlan } from '@capstan/plan';
import type { CompiledPolicy, PolicyCache } from '@capstan/policy';
import type { Query, Store } from '@capstan/store';
import { type ClaimedRun, type Heard, loadPlan, readMovedSteps } from '@capstan/store/plan';
import { policyByHash } from '@capstan/store/policy';
import { LRUCache } from 'lru-cache';
import { RunState } from './run-state.js';
import { RunTurn } from './run-turn.js';

/** A compiled step takes one or two kilobytes. */
const MAX_STEPS = 200_000;

/** Caches the runs that this process has advanced. Missing entries are read again. */
export class RunCache {
  readonly #store: Store;
  readonly #policies: PolicyCache;
  readonly #states = new LRUCache<string, RunState>({
    maxSize: MAX_STEPS,
    sizeCalculation: ({ plan }) => plan.steps.length,
  });
  readonly #plans = new LRUCache<string, CompiledPlan>({
    maxSize: MAX_STEPS,
    sizeCalculation: ({ steps }) => steps.length,
  });

  constructor(store: Store, policies: PolicyCache) {
    this.#store = store;
    this.#policies = policies;
  }

  /** True if the run is cached and later steps read the output of this step. */
  isTaken({ run_id, step, element }: Heard): boolean {
    return element < 0 && (this.#states.peek(run_id)?.plan.taken.has(step) ?? false);
  }

  /** Opens a turn for each run, after reading the steps that changed since the cached state. */
  async open(query: Query, rows: readonly ClaimedRun[]): Promise<Map<string, RunTurn>> {
    const turns = new Map<string, RunTurn>();
    const behind: { run_id: string; seq: number }[] = [];
    for (const row of rows) {
      const { run_id } = row;
      const state = this.#states.get(run_id) ?? new RunState(await this.#plan(row));
      this.#states.set(run_id, state);
      const turn = new RunTurn(row, state, await this.#policy(row));
      if (turn.unsure) behind.push({ run_id, seq: state.seq });
      turns.set(run_id, turn);
    }
    for (const moved of await readMovedSteps(query, behind)) turns.get(moved.run_id)?.state.apply(moved);
    return turns;
  }

  keep(turns: Iterable<RunTurn>): void {
    for (const { run_id, row, state } of turns)
      if (row.unended > 0) state.seq = row.seq;
      else this.#states.delete(run_id);
  }

  /** Drops the changes of a failed turn. */
  forget(run_ids: readonly string[]): void {
    for (const run_id of run_ids) this.#states.delete(run_id);
  }

  async #policy({ policy_hash }: ClaimedRun): Promise<CompiledPolicy> {
    const known = this.#policies.get(policy_hash);
    if (known) return known;
    const found = await policyByHash(this.#store.db, policy_hash);
    if (!found) throw new Error(`no policy has the hash ${policy_hash}`);
    return this.#policies.of(found);
  }

  async #plan({ plan_hash, run_id }: ClaimedRun): Promise<CompiledPlan> {
    const plan = this.#plans.get(plan_hash) ?? compilePlan(await loadPlan(this.#store.db, run_id));
    this.#plans.set(plan_hash, plan);
    return plan;
  }
}

import type { RunStatus } from '@capstan/contracts';
import type { CompiledPlan, CompiledStep } from '@capstan/plan';
import type { CompiledPolicy } from '@capstan/policy';
import type { ClaimedRun, EndedElements, EndedRow, MetNeeds, SavedRun } from '@capstan/store';

/**
 * How many steps are started in one transaction: the first run while the next are being prepared. See test/bench/README.md
 * for what other numbers cost.
 */
export const CHUNK = 500;

const TOLERATED: ReadonlySet<EndedRow['status']> = new Set(['succeeded', 'skipped']);

/** A run during a turn of the engine: what it had when it was claimed, and what becomes of it. */
export class RunTurn {
  readonly row: ClaimedRun;
  readonly plan: CompiledPlan;
  readonly policy: CompiledPolicy;
  readonly more: SavedRun['more'] = { total: 0, live: 0, completed: 0, denied: 0, failed: 0, canceled: 0, skipped: 0 };
  /** Whether there may be steps that are ready, beyond those of which the turn knows. */
  unsure: boolean;
  #reason: string | null = null;
  readonly #met = new Map<number, number>();
  readonly #elements = new Map<number, EndedElements>();

  constructor(row: ClaimedRun, plan: CompiledPlan, policy: CompiledPolicy, unsure: boolean) {
    this.row = row;
    this.unsure = unsure || row.max_parallel !== null;
    this.plan = plan;
    this.policy = policy;
  }

  step(index: number): CompiledStep {
    const step = this.plan.steps[index];
    if (!step) throw new Error(`${this.row.run_id} has no step ${index}`);
    return step;
  }

  nextSeq(): number {
    this.row.seq += 1;
    return this.row.seq;
  }

  /** How many more steps may be under way. */
  room(): number {
    const { paused, stopping, max_parallel, live } = this.row;
    if (paused || stopping) return 0;
    return max_parallel === null ? CHUNK : Math.min(CHUNK, max_parallel - live);
  }

  /** Whether the run goes on only once it is known what became of a step: where its failure would stop it. */
  waitsFor(step: number): boolean {
    return this.row.stopping === null && this.step(step).on_error === 'stop';
  }

  /**
   * A step, an element or a whole fan-out has ended: what its failure means, and what waits for it, unless that has been
   * counted off already.
   */
  ended({ step: index, element, status }: EndedRow, reason: string | null, counted_off = false): void {
    const step = this.step(index);
    this.row.unended -= 1;
    if (!TOLERATED.has(status) && step.on_error === 'stop') this.stop(step, element, status, reason);
    if (element >= 0) this.countElements(index, 1, TOLERATED.has(status) ? 0 : 1);
    else if (!counted_off) for (const next of step.dependents) this.#met.set(next, (this.#met.get(next) ?? 0) + 1);
  }

  countElements(step: number, ended: number, unsuccessful: number): void {
    const count = this.#elements.get(step) ?? { run_id: this.row.run_id, step, ended: 0, unsuccessful: 0 };
    count.ended += ended;
    count.unsuccessful += unsuccessful;
    this.#elements.set(step, count);
  }

  private stop(step: CompiledStep, element: number, status: EndedRow['status'], reason: string | null): void {
    if (this.row.stopping) return;
    this.row.stopping = 'failed';
    const where = element >= 0 ? `${step.id}[${element}]` : step.id;
    this.fail(`${where} is ${status}${reason === null ? '' : `: ${reason}`}`);
  }

  fail(reason: string): void {
    this.#reason ??= reason;
  }

  takeMet(): MetNeeds[] {
    const met = [...this.#met].map(([step, count]) => ({ run_id: this.row.run_id, step, met: count }));
    this.#met.clear();
    return met;
  }

  takeElements(): EndedElements[] {
    const elements = [...this.#elements.values()];
    this.#elements.clear();
    return elements;
  }

  /** What is to be kept. With nothing left that has not ended the run is over, and no longer counts as live itself. */
  save(): SavedRun {
    const { run_id, stopping, dropped, live, unended, ended, seq, calls } = this.row;
    const active = unended > 0;
    const more = active ? this.more : { ...this.more, live: this.more.live - 1 };
    return {
      run_id,
      active,
      stopping,
      dropped,
      live,
      unended,
      ended,
      seq,
      calls,
      status: this.#status(active),
      reason: this.#reason,
      more,
    };
  }

  #status(active: boolean): RunStatus {
    if (!active) return this.row.stopping ?? 'completed';
    return this.row.paused ? 'paused' : 'running';
  }
}

import type { CompiledPlan, CompiledStep } from '@capstan/plan';
import type { StepState } from '@capstan/store/plan';
import { Fan } from './fan.js';

/** A step, or (with `element` >= 0) one of its elements. */
export type Place = { step: number; element: number };
type Status = StepState['status'];
/** A change of a step: read from its row, or made by a turn. */
export type Change = Place & { status: Status; elements?: number | null; told?: boolean };

const isEnded = (status: Status): boolean => status !== 'pending' && status !== 'started';

/**
 * The cached state of the steps of a run, and which are ready. It equals their rows as of version `seq`. A turn that finds a newer
 * version reads only the steps that changed since, so nothing is counted twice.
 */
export class RunState {
  readonly plan: CompiledPlan;
  /** 0 if nothing is cached. */
  seq = 0;
  readonly #status: Status[];
  /** How many unended steps each step waits for. */
  readonly #unmet: number[];
  readonly #fans = new Map<number, Fan>();
  /** Steps with something to start, in plan order. */
  readonly #ready: number[];
  /** Ambiguous steps that were already announced. */
  readonly #told = new Set<string>();

  constructor(plan: CompiledPlan) {
    this.plan = plan;
    this.#status = plan.steps.map(() => 'pending');
    this.#unmet = plan.steps.map(({ needs }) => needs.length);
    this.#ready = plan.steps.filter(({ needs }) => needs.length === 0).map(({ index }) => index);
  }

  step(index: number): CompiledStep {
    const step = this.plan.steps[index];
    if (!step) throw new Error(`the plan has no step ${index}`);
    return step;
  }

  statusOf(step: number): Status {
    return this.#status[step] ?? 'pending';
  }

  fanOf(step: number): Fan | undefined {
    return this.#fans.get(step);
  }

  /** True if the step or element was called and is not known to have ended. */
  isStarted({ step, element }: Place): boolean {
    const fan = this.#fans.get(step);
    if (element >= 0) return fan?.isStarted(element) ?? false;
    return !fan && this.#status[step] === 'started';
  }

  isTold({ step, element }: Place): boolean {
    return this.#told.has(`${step}.${element}`);
  }

  hasReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Takes ready steps and elements. The caller must start or end all of them, or stop the run. */
  takeReady(most: number): Place[] {
    const taken: Place[] = [];
    for (let step = this.#ready[0]; step !== undefined && taken.length < most; step = this.#ready[0]) {
      const fan = this.#fans.get(step);
      if (!fan) taken.push({ step, element: -1 });
      else for (const element of fan.take(most - taken.length)) taken.push({ step, element });
      if (!fan?.hasReady()) this.#ready.shift();
    }
    return taken;
  }

  apply({ step, element, status, elements = null, told = false }: Change): void {
    if (told) this.#told.add(`${step}.${element}`);
    if (element >= 0) this.#moveElement(step, element, status);
    else this.#moveStep(step, status, elements);
  }

  /** All steps that were not started, ready or not. */
  pending(): Place[] {
    return this.#status.flatMap((status, step) =>
      status === 'pending'
        ? [{ step, element: -1 }]
        : (this.#fans.get(step)?.pending() ?? []).map((element) => ({ step, element })),
    );
  }

  #moveStep(step: number, status: Status, elements: number | null): void {
    const before = this.statusOf(step);
    this.#status[step] = status;
    if (elements !== null && elements > 0 && !this.#fans.has(step)) this.#fans.set(step, new Fan(elements));
    if (status === 'started' && this.#fans.has(step)) this.#makeReady(step);
    else if (before === 'pending') this.#forgetReady(step);
    if (isEnded(status) && !isEnded(before)) this.#meet(step);
  }

  #moveElement(step: number, element: number, status: Status): void {
    const fan = this.#fans.get(step);
    if (!fan) throw new Error(`step ${step} is not fanned out`);
    fan.move(element, status);
    if (!fan.hasReady()) this.#forgetReady(step);
  }

  #meet(step: number): void {
    for (const next of this.step(step).dependents) {
      const unmet = (this.#unmet[next] ?? 0) - 1;
      this.#unmet[next] = unmet;
      if (unmet === 0 && this.#status[next] === 'pending') this.#makeReady(next);
    }
  }

  #makeReady(step: number): void {
    const at = this.#placeOf(step);
    if (this.#ready[at] !== step) this.#ready.splice(at, 0, step);
  }

  #forgetReady(step: number): void {
    const at = this.#placeOf(step);
    if (this.#ready[at] === step) this.#ready.splice(at, 1);
  }

  /** The index or insertion point of a step among the ready ones. */
  #placeOf(step: number): number {
    let low = 0;
    let high = this.#ready.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ready[middle] ?? 0) < step) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

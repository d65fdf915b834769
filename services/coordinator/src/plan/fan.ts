import type { StepState } from '@capstan/store/plan';

const PENDING = 0;
const STARTED = 1;
const ENDED = 2;

/** The statuses after which a run continues. */
export const TOLERATED: ReadonlySet<StepState['status']> = new Set(['succeeded', 'skipped']);

/** The state of the elements of a fanned-out step, one byte each. */
export class Fan {
  unended: number;
  unsuccessful = 0;
  readonly #stands: Uint8Array;
  #pending: number;
  /** The first element not taken yet. */
  #next = 0;

  constructor(readonly elements: number) {
    this.#stands = new Uint8Array(elements);
    this.#pending = elements;
    this.unended = elements;
  }

  isStarted(element: number): boolean {
    return this.#stands[element] === STARTED;
  }

  hasReady(): boolean {
    return this.#pending > 0 && this.#next < this.elements;
  }

  take(most: number): number[] {
    const taken: number[] = [];
    for (; this.#next < this.elements && taken.length < most; this.#next += 1)
      if (this.#stands[this.#next] === PENDING) taken.push(this.#next);
    return taken;
  }

  move(element: number, status: StepState['status']): void {
    const before = this.#stands[element];
    if (before === undefined || before === ENDED) return;
    const now = status === 'pending' ? PENDING : status === 'started' ? STARTED : ENDED;
    if (before === PENDING && now !== PENDING) this.#pending -= 1;
    this.#stands[element] = now;
    if (now !== ENDED) return;
    this.unended -= 1;
    if (!TOLERATED.has(status)) this.unsuccessful += 1;
  }

  pending(): number[] {
    return [...this.#stands.keys()].filter((element) => this.#stands[element] === PENDING);
  }
}

import { stepInvocationId } from '@capstan/contracts';
import { findBegun, type Query, type StepKey } from '@capstan/store';
import type { Turns } from './advance.js';

/** The id of its call. */
export const callOf = ({ run_id, step, element }: StepKey): string =>
  stepInvocationId(run_id, step, element < 0 ? null : element);

/** Which of the steps that are ready were called already, by a turn that was lost. */
export class Begun {
  readonly #query: Query;
  /** Of runs that this process knows nobody else to have had, and which are looked up only if it matters. */
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
      // Elements that this very turn made cannot have been begun.
      if (turn && !turn.fanned.has(one.step)) (turn.unsure ? asked : unasked).push(callOf(one));
    }
    return new Begun(query, unasked, await findBegun(query, asked));
  }

  has(one: StepKey): boolean {
    return this.#found.has(callOf(one));
  }

  /**
   * Asked before one is refused. To call it again would do nothing, so that usually it is enough to find out then; a turn of
   * another coordinator that came to nothing leaves no other trace.
   */
  async surely(one: StepKey): Promise<boolean> {
    for (const id of await findBegun(this.#query, this.#unasked.splice(0))) this.#found.add(id);
    return this.has(one);
  }
}

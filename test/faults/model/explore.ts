/** One thing that can happen next, and the state it leads to. */
export interface Step<State> {
  readonly label: string;
  readonly next: State;
}

export interface Model<State> {
  readonly initial: State;
  steps(state: State): Step<State>[];
  /** What is wrong with a state, or null. `final` means that no step is left. */
  violation(state: State, final: boolean): string | null;
}

export interface Exploration {
  readonly states: number;
  /** The shortest sequence of steps to a violation, or null if there is none. */
  readonly counterexample: { readonly violation: string; readonly steps: readonly string[] } | null;
}

const MAX_STATES = 2_000_000;

/** Visits every state that any interleaving of the steps can reach, breadth first. States are plain JSON. */
export function explore<State>({ initial, steps, violation }: Model<State>): Exploration {
  interface Visit {
    readonly state: State;
    readonly label: string;
    readonly from: Visit | null;
  }
  const seen = new Set([JSON.stringify(initial)]);
  let layer: Visit[] = [{ state: initial, label: 'initial state', from: null }];
  while (layer.length > 0) {
    const next_layer: Visit[] = [];
    for (const visit of layer) {
      const next = steps(visit.state);
      const problem = violation(visit.state, next.length === 0);
      if (problem !== null) return { states: seen.size, counterexample: { violation: problem, steps: pathTo(visit) } };
      for (const { label, next: state } of next) {
        const key = JSON.stringify(state);
        if (seen.has(key)) continue;
        seen.add(key);
        next_layer.push({ state, label, from: visit });
      }
    }
    if (seen.size > MAX_STATES) throw new Error(`more than ${MAX_STATES} states: make the model smaller`);
    layer = next_layer;
  }
  return { states: seen.size, counterexample: null };

  function pathTo(visit: Visit): string[] {
    const labels: string[] = [];
    for (let at: Visit | null = visit; at?.from; at = at.from) labels.unshift(at.label);
    return labels;
  }
}

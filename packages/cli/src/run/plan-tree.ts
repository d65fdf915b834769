import type { JsonObject, Run, RunEvent, Step, StepStatus } from '@capstan/contracts';

type Told = Omit<Step, 'result'>;

/** A step as it is shown: one call, or the elements that it was fanned out to. */
export type Branch = {
  index: number;
  id: string;
  tool_id: string;
  needs: readonly string[] | null;
  /** Whether its failure stops the run: then the run waits until it is known what became of it. */
  stops: boolean;
  /** Of the step itself, as long as it has no elements. */
  told: Told | null;
  elements: Map<number, Told>;
};

/** What is known of a run, step by step. */
export type PlanTree = {
  run: Run;
  branches: Branch[];
  /** Held or unresolved, and nothing of it goes on without a person. */
  isParked(): boolean;
  hear(event: RunEvent): void;
};

const GOING_ON: readonly StepStatus[] = ['queued', 'running', 'deferred'];
const WAITING: readonly StepStatus[] = ['held', 'ambiguous'];

export function createPlanTree(run: Run & { plan: JsonObject | null }): PlanTree {
  const branches = readSteps(run.plan);
  const live = new Map<string, StepStatus>();
  const tree: PlanTree = {
    run,
    branches,
    isParked: () => {
      const statuses = [...live.values()];
      return (
        statuses.some((status) => WAITING.includes(status)) && !statuses.some((status) => GOING_ON.includes(status))
      );
    },
    hear: (event) => {
      if (event.event === 'run') {
        tree.run = event.data;
        if (event.data.finished_at !== null) live.clear();
        return;
      }
      const { data } = event;
      const branch = branches[data.index];
      if (branch && data.element === null) branch.told = data;
      else if (branch && data.element !== null) branch.elements.set(data.element, data);
      const key = `${data.index} ${data.element}`;
      const waits = data.status === 'held' || (data.status === 'ambiguous' && branch?.stops === true);
      if (waits || GOING_ON.includes(data.status)) live.set(key, data.status);
      else live.delete(key);
    },
  };
  return tree;
}

function readSteps(plan: JsonObject | null): Branch[] {
  const steps = Array.isArray(plan?.steps) ? plan.steps : [];
  return steps.map((step, index) => {
    const one: JsonObject = typeof step === 'object' && step !== null && !Array.isArray(step) ? step : {};
    const needs = typeof one.needs === 'string' ? [one.needs] : one.needs;
    return {
      index,
      id: typeof one.id === 'string' ? one.id : `step_${index + 1}`,
      tool_id: String(one.tool ?? ''),
      needs: Array.isArray(needs) ? needs.map(String) : null,
      stops: one.on_error !== 'continue',
      told: null,
      elements: new Map(),
    };
  });
}

export type Counts = { ended: number; failed: number; running: number; total: number };

export function countElements({ elements }: Branch): Counts {
  const counts = { ended: 0, failed: 0, running: 0, total: elements.size };
  for (const { status } of elements.values()) {
    if (status === 'running') counts.running += 1;
    else if (status === 'succeeded' || status === 'skipped') counts.ended += 1;
    else if (!GOING_ON.includes(status) && status !== 'held' && status !== 'pending') {
      counts.ended += 1;
      counts.failed += 1;
    }
  }
  return counts;
}

export type Span = Pick<Told, 'started_at' | 'finished_at' | 'reused_from'>;

/** When a step ran: of several elements, from the first start to the last end. */
export function spanOf(branch: Branch): Span | null {
  const all = [...branch.elements.values()];
  const own = all.filter(({ reused_from }) => reused_from === null);
  // Also when none of them ran: then any says where they come from.
  if (own.length === 0) return all[0] ?? branch.told;
  const { ended, total } = countElements(branch);
  return {
    started_at: pick(Math.min, own, 'started_at'),
    finished_at: ended === total ? pick(Math.max, own, 'finished_at') : null,
    reused_from: null,
  };
}

function pick(choose: (...times: number[]) => number, all: readonly Told[], which: 'started_at' | 'finished_at') {
  const times = all.flatMap(({ [which]: time }) => (time === null ? [] : Date.parse(time)));
  return times.length === 0 ? null : new Date(choose(...times)).toISOString();
}

/** How a step stands: of several elements, the one that most needs a look. */
export function statusOf(branch: Branch): StepStatus {
  if (branch.elements.size === 0) return branch.told?.status ?? 'pending';
  const statuses = new Set([...branch.elements.values()].map(({ status }) => status));
  const order: StepStatus[] = [
    'held',
    'running',
    'queued',
    'deferred',
    'pending',
    'ambiguous',
    'denied',
    'rejected',
    'failed',
    'timed_out',
    'expired',
    'canceled',
    'succeeded',
  ];
  return order.find((status) => statuses.has(status)) ?? 'skipped';
}

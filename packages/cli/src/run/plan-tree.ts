import type { JsonObject, Run, RunEvent, Step, StepStatus } from '@capstan/contracts';
import { isObject } from '@capstan/contracts/is-object';

type Told = Omit<Step, 'result'>;

/** A step as shown: one call, or the elements of a fan-out. */
export type Branch = {
  index: number;
  id: string;
  tool_id: string;
  needs: readonly string[] | null;
  /** True if its failure stops the run. The run then waits until an ambiguous outcome is resolved. */
  stops: boolean;
  /** The state of the step itself. Null until it is known, and in a fan-out. */
  told: Told | null;
  elements: Map<number, Told>;
};

/** The state of a run and its steps, kept up to date by events. */
export type PlanTree = {
  run: Run;
  branches: Branch[];
  /** True if steps are held or ambiguous, and nothing else is in progress. */
  isParked(): boolean;
  /** A queued or deferred call, if none is running. */
  waitingCall(): string | null;
  heldCalls(): string[];
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
    heldCalls: () =>
      callsOf(branches).flatMap(({ status, invocation_id }) => (status === 'held' ? (invocation_id ?? []) : [])),
    waitingCall: () => {
      const calls = callsOf(branches);
      if (calls.some(({ status }) => status === 'running')) return null;
      return calls.find(({ status }) => status === 'queued' || status === 'deferred')?.invocation_id ?? null;
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

const callsOf = (branches: readonly Branch[]): Told[] =>
  branches.flatMap(({ told, elements }) => [...(told ? [told] : []), ...elements.values()]);

function readSteps(plan: JsonObject | null): Branch[] {
  const steps = Array.isArray(plan?.steps) ? plan.steps : [];
  return steps.map((step, index) => {
    const one: JsonObject = isObject(step) ? step : {};
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

export type Span = Pick<Told, 'started_at' | 'finished_at' | 'duration_ms' | 'reused_from'>;

/** When a step ran. A fan-out lasts from its first start to its last end. */
export function spanOf(branch: Branch): Span | null {
  const all = [...branch.elements.values()];
  const own = all.filter(({ reused_from }) => reused_from === null);
  // If all results were reused, each element can name their origin.
  if (own.length === 0) return all[0] ?? branch.told;
  const { ended, total } = countElements(branch);
  return {
    started_at: pick(Math.min, own, 'started_at'),
    finished_at: ended === total ? pick(Math.max, own, 'finished_at') : null,
    duration_ms: null,
    reused_from: null,
  };
}

function pick(choose: (...times: number[]) => number, all: readonly Told[], which: 'started_at' | 'finished_at') {
  const times = all.flatMap(({ [which]: time }) => (time === null ? [] : Date.parse(time)));
  return times.length === 0 ? null : new Date(choose(...times)).toISOString();
}

/** The status of a step. A fan-out has that of its most urgent element. */
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

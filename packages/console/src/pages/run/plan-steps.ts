import type { PlanStep, RunDetail, Step, StepStatus } from '@capstan/contracts';

/** A step of the plan with its calls: one, or the elements of its fan-out. */
export type Group = {
  index: number;
  step_id: string;
  title: string;
  tool_id: string;
  needs: readonly number[];
  status: StepStatus;
  steps: readonly Step[];
};

/** Statuses, most severe first. The first one that occurs is the status of a fan-out or a folded layer. */
const WEIGHT: readonly StepStatus[] = [
  'running',
  'held',
  'ambiguous',
  'failed',
  'timed_out',
  'denied',
  'rejected',
  'expired',
  'queued',
  'deferred',
  'pending',
  'canceled',
  'succeeded',
  'skipped',
];
export const gravest = (statuses: readonly StepStatus[]): StepStatus =>
  WEIGHT.find((status) => statuses.includes(status)) ?? 'pending';

type Sorted = Pick<Group, 'status' | 'index'>;
/** Orders steps by how much attention they need. */
export const bySeverity = (one: Sorted, other: Sorted): number =>
  WEIGHT.indexOf(one.status) - WEIGHT.indexOf(other.status) || one.index - other.index;

/** A step without `needs` follows the previous one. The calls of a bulk submission are side by side. */
export function groupsOf({ plan, kind }: RunDetail, steps: readonly Step[]): Group[] {
  const planned = (plan?.steps ?? []) as PlanStep[];
  const ids = new Map(planned.map(({ id }, index) => [id ?? `step_${index + 1}`, index]));
  const byIndex = new Map<number, Step[]>();
  for (const step of steps) byIndex.set(step.index, [...(byIndex.get(step.index) ?? []), step]);
  if (kind !== 'plan' || planned.length === 0)
    return steps.map((step, index) => ({ ...step, index, title: step.step_id, needs: [], steps: [step] }));
  return planned.map((one, index) => {
    const made = byIndex.get(index) ?? [];
    const named = typeof one.needs === 'string' ? [one.needs] : one.needs;
    return {
      index,
      step_id: one.id ?? `step_${index + 1}`,
      title: one.name ?? one.id ?? `step_${index + 1}`,
      tool_id: one.tool,
      needs: named ? named.flatMap((name) => ids.get(name) ?? []) : index === 0 ? [] : [index - 1],
      status: made.length === 0 ? 'pending' : gravest(made.map(({ status }) => status)),
      steps: made,
    };
  });
}

export const countBy = (steps: readonly { status: StepStatus }[]): [StepStatus, number][] => {
  const counts = new Map<StepStatus, number>();
  for (const { status } of steps) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].sort(([one], [other]) => WEIGHT.indexOf(one) - WEIGHT.indexOf(other));
};

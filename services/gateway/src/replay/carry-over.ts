import type { StepStatus } from '@capstan/contracts';
import type { CompiledStep } from '@capstan/plan';
import type { CarriedStep, RecordedStep } from '@capstan/store/record';

type Recorded = ReadonlyMap<number, readonly RecordedStep[]>;

/** Steps that were not called, or were canceled, have nothing to reuse: the engine decides about them again. */
const WITHOUT_RESULT: ReadonlySet<StepStatus> = new Set(['skipped', 'canceled', 'pending']);

/**
 * The steps of a run that is replayed from one of them. A step is reused if it does not depend on that one and ended in a way that
 * lets the plan continue. All others are pending.
 */
export function carryOver(plan: readonly CompiledStep[], from: number, recorded: Recorded): CarriedStep[] {
  const after = reach(plan, from, 'dependents');
  return plan.flatMap((step) => (after.has(step.index) ? [pending(step.index)] : carry(step, recorded)));
}

/** Finds a step that `from` needs and that stopped the plan, so that there is no result to continue with. */
export function findBlocked(plan: readonly CompiledStep[], from: number, recorded: Recorded): CompiledStep | undefined {
  const before = reach(plan, from, 'needs');
  return plan.find(
    (step) =>
      step.index !== from &&
      before.has(step.index) &&
      recorded.get(step.index)?.some(({ status }) => !WITHOUT_RESULT.has(status) && !isUsable(step, status)),
  );
}

/** The record lists a step before its elements. A fanned-out step continues with the elements that have no result. */
function carry(step: CompiledStep, recorded: Recorded): CarriedStep[] {
  const [own, ...elements] = recorded.get(step.index) ?? [];
  if (!own) return [pending(step.index)];
  if (elements.length === 0) return [carryOne(step, own)];
  const carried = elements.map((element) => carryOne(step, element));
  const unended = carried.filter(({ reused }) => !reused).length;
  const unsuccessful = carried.filter(({ reused, status }) => reused && status !== 'succeeded').length;
  const status = unended > 0 ? 'started' : unsuccessful > 0 ? 'failed' : 'succeeded';
  const counts = { elements: elements.length, unended, unsuccessful };
  return [{ ...pending(step.index), status, reused: unended === 0, ...counts }, ...carried];
}

function carryOne(step: CompiledStep, { element, status }: RecordedStep): CarriedStep {
  if (!isUsable(step, status)) return pending(step.index, element);
  return { ...pending(step.index, element), status, reused: true };
}

const pending = (step: number, element = -1): CarriedStep => ({
  ...{ step, element, status: 'pending', reused: false, elements: null, unended: null, unsuccessful: null },
});

type Ended = Exclude<CarriedStep['status'], 'started' | 'pending'> & StepStatus;

const isUsable = ({ on_error }: CompiledStep, status: StepStatus): status is Ended =>
  status === 'succeeded' || (on_error === 'continue' && !WITHOUT_RESULT.has(status));

/** The step itself and everything reachable from it. */
function reach(plan: readonly CompiledStep[], from: number, along: 'needs' | 'dependents'): Set<number> {
  const reached = new Set([from]);
  for (const index of reached) for (const next of plan[index]?.[along] ?? []) reached.add(next);
  return reached;
}

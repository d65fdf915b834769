import type { StepStatus } from '@capstan/contracts';
import type { CompiledStep } from '@capstan/plan';
import type { CarriedStep, RecordedStep } from '@capstan/store';

type Recorded = ReadonlyMap<number, readonly RecordedStep[]>;

/** Of a step that was not called, or that was canceled, there is nothing to re-use: the engine decides about it again. */
const WITHOUT_RESULT: ReadonlySet<StepStatus> = new Set(['skipped', 'canceled', 'pending']);

/**
 * The steps of a run that goes on from one of them. Re-used is what does not follow from that one and ended as the plan
 * lets it go on; all else is still to be done.
 */
export function carryOver(plan: readonly CompiledStep[], from: number, recorded: Recorded): CarriedStep[] {
  const after = reach(plan, from, 'dependents');
  return plan.flatMap((step) => (after.has(step.index) ? [pending(step.index)] : carry(step, recorded)));
}

/** A step that the one to go on from needs, and that stopped the plan: nothing can follow from its result. */
export function findBlocked(plan: readonly CompiledStep[], from: number, recorded: Recorded): CompiledStep | undefined {
  const before = reach(plan, from, 'needs');
  return plan.find(
    (step) =>
      step.index !== from &&
      before.has(step.index) &&
      recorded.get(step.index)?.some(({ status }) => !WITHOUT_RESULT.has(status) && !isUsable(step, status)),
  );
}

/** A step itself comes before its elements. One that is fanned out goes on with those of them that are missing. */
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

/** The step itself and all that is reached from it. */
function reach(plan: readonly CompiledStep[], from: number, along: 'needs' | 'dependents'): Set<number> {
  const reached = new Set([from]);
  for (const index of reached) for (const next of plan[index]?.[along] ?? []) reached.add(next);
  return reached;
}

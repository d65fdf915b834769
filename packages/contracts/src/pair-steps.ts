import type { Step } from './run.js';

/** A step in two runs. It is missing in one of them if the plans differ. */
export type StepPair = { name: string; first: Step | undefined; second: Step | undefined; same: boolean };

const nameOf = ({ step_id, element }: Step): string => (element === null ? step_id : `${step_id}[${element}]`);

/** The steps of two runs side by side, in the order of the first, paired by their names. */
export function pairSteps(first: readonly Step[], second: readonly Step[]): StepPair[] {
  const others = new Map(second.map((step) => [nameOf(step), step]));
  const known = new Set(first.map(nameOf));
  return [
    ...first.map((step) => pair(step, others.get(nameOf(step)))),
    ...second.filter((step) => !known.has(nameOf(step))).map((step) => pair(undefined, step)),
  ];
}

const pair = (first: Step | undefined, second: Step | undefined): StepPair => {
  const step = first ?? second;
  return {
    name: step ? nameOf(step) : '',
    first,
    second,
    same: first?.status === second?.status && first?.result?.output_hash === second?.result?.output_hash,
  };
};

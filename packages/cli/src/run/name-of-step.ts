import type { Step } from '@capstan/contracts';

/** `each[2]` for an element of a step that was fanned out. */
export const nameOfStep = ({ step_id, element }: Pick<Step, 'step_id' | 'element'>): string =>
  element === null ? step_id : `${step_id}[${element}]`;

export type { Read } from './check-references.js';
export * from './compile-plan.js';
export * from './parse-plan.js';
export { type PlanError, PlanFailure } from './plan-error.js';
export type { PlanInputs } from './plan-inputs.js';
export * from './prepare-step.js';
export * from './preview-step.js';
export { placeErrors } from './read-document.js';
export * from './timetable.js';

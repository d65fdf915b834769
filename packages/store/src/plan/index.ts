export * from './claim-plan-runs.js';
export * from './control-run.js';
export * from './insert-plan-run.js';
export * from './move-steps.js';
export * from './read-endings.js';
export * from './read-steps.js';
export * from './save-plan-runs.js';
export * from './step-states.js';

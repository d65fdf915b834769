export * from './delete-old-fires.js';
export * from './remove-records.js';
export * from './remove-results.js';
export * from './remove-runs.js';
export * from './retention-rule.js';
export * from './retentions.js';
export * from './walk.js';

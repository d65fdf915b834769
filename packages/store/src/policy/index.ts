export * from './approved-specs.js';
export * from './effective-policy.js';
export * from './policies.js';
export * from './read-decisions.js';

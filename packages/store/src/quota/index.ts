export * from './count-usage.js';
export * from './denial-by.js';
export * from './promote-waiting.js';
export * from './quotas.js';
export * from './quotas-awaited.js';
export * from './record-uses.js';
export * from './take-quotas.js';

export * from './append-audit.js';
export * from './chain-audit.js';
export * from './read-audit.js';
export * from './read-executions.js';
export * from './verify-audit.js';

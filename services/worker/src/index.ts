export * from './env.js';
export * from './run-worker.js';
export * from './start-worker.js';

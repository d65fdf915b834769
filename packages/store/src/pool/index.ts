export * from './app-workers.js';
export * from './pool-versions.js';

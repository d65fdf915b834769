export * from './read-stats.js';
export * from './roll-up.js';

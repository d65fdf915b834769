export * from './count-queued.js';
export * from './pause-queue.js';
export * from './read-backlog.js';
export * from './read-scale.js';
export * from './read-standing.js';

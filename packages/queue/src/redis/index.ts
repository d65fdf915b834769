export * from './redis-queue.js';
export * from './redis-signals.js';

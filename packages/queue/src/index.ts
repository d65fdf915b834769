export * from './postgres/postgres-queue.js';
export * from './queue.js';
export * from './redis/redis-queue.js';
export * from './redis/redis-signals.js';
export * from './relay/relay.js';

export * from './postgres/postgres-queue.js';
export * from './queue.js';
export * from './relay/relay.js';

export * from './postgres/offers.js';
export * from './postgres/postgres-queue.js';
export * from './queue.js';
export * from './redis/flow.js';
export * from './relay/relay.js';

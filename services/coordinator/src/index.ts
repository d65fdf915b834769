export * from './env.js';
export * from './metrics.js';
export * from './run-coordinator.js';
export * from './start-coordinator.js';
export type { WebhookOptions } from './webhook/run-webhooks.js';

export * from './deliveries.js';
export * from './hold-link.js';
export * from './use-once.js';
export * from './webhooks.js';

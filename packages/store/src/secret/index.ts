export * from './rewrap-secrets.js';
export * from './secret-keys.js';
export * from './secrets.js';

export * from './worker-lease.js';

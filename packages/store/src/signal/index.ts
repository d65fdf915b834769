export * from './postgres-signals.js';

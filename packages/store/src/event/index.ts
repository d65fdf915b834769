export * from './fan-out-events.js';
export * from './read-changes.js';
export * from './record-events.js';
export * from './tell-ended.js';

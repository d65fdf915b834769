export * from './artifacts-env.js';
export * from './env.js';
export * from './live-catalog.js';
export * from './live-rules.js';
export * from './log.js';
export * from './open-backbone.js';
export * from './seal-env.js';
export * from './until-signal.js';

export * from './artifacts-env.js';
export * from './env.js';
export * from './live-catalog.js';
export * from './log.js';
export * from './open-backbone.js';
export * from './until-signal.js';

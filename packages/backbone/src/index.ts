export * from './env.js';
export * from './log.js';
export * from './open-backbone.js';
export * from './until-signal.js';

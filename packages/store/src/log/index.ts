export * from './log-days.js';
export * from './logs.js';

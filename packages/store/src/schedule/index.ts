export * from './due-schedules.js';
export * from './schedules.js';

export * from './read-tools.js';
export * from './replace-tools.js';

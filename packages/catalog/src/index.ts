export * from './builtin-tools.js';
export * from './create-catalog.js';

export * from './builtin/create-builtin-runner.js';
export * from './create-runners.js';
export * from './exec/create-exec-runner.js';
export * from './runner.js';

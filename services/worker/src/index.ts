export { canContain, defaultRange, openCgroups, openInits } from '@capstan/sandbox';
export * from './analyze-ports.js';
export * from './env.js';
export * from './extension-tools.js';
export * from './mcp-ports.js';
export * from './run-worker.js';
export * from './start-worker.js';

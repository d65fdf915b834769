export * from './build-agent.js';
export * from './builtin-capabilities.js';
export * from './check-config.js';
export * from './create-capability-registry.js';
export * from './parse-capabilities.js';

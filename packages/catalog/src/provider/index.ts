export * from './parse-tool-calls.js';
export * from './result-text.js';
export * from './to-messages.js';
export * from './to-provider-tools.js';
export * from './tool-names.js';

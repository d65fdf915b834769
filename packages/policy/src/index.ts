export * from './compile-policy.js';
export * from './default-policy.js';
export * from './parse-policy.js';

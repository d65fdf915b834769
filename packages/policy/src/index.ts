export * from './check-installation.js';
export * from './compile-policy.js';
export * from './default-policy.js';
export * from './find-warnings.js';
export * from './format-policy.js';
export { invalidPolicy, type PolicyError, parsePolicy } from './parse-policy.js';
export type { CompiledPolicy, Facts, Request } from './request.js';
export * from './stricter-decision.js';
export * from './suggest/suggest-for.js';

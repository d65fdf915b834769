export * from './admit.js';
export * from './new-invocation-id.js';
export * from './propose-release.js';
export * from './under-quotas.js';

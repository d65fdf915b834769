export * from './artifact-place.js';
export * from './delete-unused.js';
export * from './disk-place.js';
export * from './keep-artifact.js';
export * from './read-artifact.js';
export * from './s3-place.js';
export * from './spool.js';

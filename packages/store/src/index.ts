export * from './group-commit.js';
export * from './migrate.js';
export * from './only-one.js';
export * from './open-store.js';

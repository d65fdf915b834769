export { EmbeddedPostgresError } from './embedded-postgres/embedded-postgres-error.js';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded-postgres/start-embedded-postgres.js';
export * from './env.js';
export * from './run-migrate.js';
export * from './run-standalone.js';
export * from './settings.js';
export * from './start-standalone.js';

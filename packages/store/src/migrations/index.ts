import type { Migration } from 'kysely';
import * as foundation from './0001-foundation.js';
import * as catalog from './0002-catalog.js';

/** In order. Never edited once shipped: a change is a new entry. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-foundation': foundation,
  '0002-catalog': catalog,
};

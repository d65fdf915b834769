import { readFile } from 'node:fs/promises';
import { Migrator, sql } from 'kysely';
import { MIGRATIONS } from '../migrations/index.js';
import type { Store } from '../open-store.js';
import { openTestStore } from './open-test-store.js';

/** The migration that the old installation is at. */
export const BEFORE = '0013-unmoved-steps';

export async function migrateTo(store: Store, name: string): Promise<void> {
  const provider = { getMigrations: () => Promise.resolve(MIGRATIONS) };
  const { error } = await new Migrator({ db: store.db, provider }).migrateTo(name);
  if (error) throw error;
}

/** A database as an installation of migration 0013 left it. */
export async function openOldInstallation(): Promise<Store> {
  const store = await openTestStore({ migrated: false });
  await migrateTo(store, BEFORE);
  const rows = await readFile(new URL('../migrations/installation-at-0013.sql', import.meta.url), 'utf8');
  await sql.raw(rows).execute(store.db);
  return store;
}

import { Migrator } from 'kysely';
import { MIGRATIONS } from './migrations/index.js';
import { openStore, type Store } from './open-store.js';

/** Kysely takes an advisory lock first, so several processes may start at once: one migrates, the others wait. */
export async function migrate(store: Store, direction: 'up' | 'down' = 'up'): Promise<string[]> {
  const migrator = new Migrator({
    db: store.db,
    provider: { getMigrations: () => Promise.resolve(MIGRATIONS) },
  });
  const { error, results } = direction === 'up' ? await migrator.migrateToLatest() : await migrator.migrateDown();
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

export async function migrateDatabase(url: string): Promise<void> {
  const store = openStore({ url, name: 'capstan-migrate', connections: 2 });
  try {
    await migrate(store);
  } finally {
    await store.close();
  }
}

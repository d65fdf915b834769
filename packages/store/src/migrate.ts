import { type MigrationInfo, Migrator } from 'kysely';
import { MIGRATIONS } from './migrations/index.js';
import { openStore, type Store } from './open-store.js';

const migratorOf = (store: Store): Migrator =>
  new Migrator({
    db: store.db,
    provider: { getMigrations: () => Promise.resolve(MIGRATIONS) },
    // Branches take their numbers before they are merged, and are not merged in that order.
    allowUnorderedMigrations: true,
  });

/** The migrations of a database, compared with those that this version knows. */
export type SchemaStatus = {
  migrations: { name: string; applied_at: string | null }[];
  /** Known to this version but not applied; `capstan migrate` applies them. */
  missing: string[];
  /** Applied by a newer version. Migrations keep the schema compatible with the previous version, so this one still works. */
  unknown: string[];
};

export async function readSchema(store: Store): Promise<SchemaStatus> {
  const applied = new Map((await readApplied(store)).map(({ name, timestamp }) => [name, timestamp]));
  const migrations = Object.keys(MIGRATIONS).map((name) => ({ name, applied_at: applied.get(name) ?? null }));
  return {
    migrations,
    missing: migrations.flatMap(({ name, applied_at }) => (applied_at === null ? [name] : [])),
    unknown: [...applied.keys()].filter((name) => !Object.hasOwn(MIGRATIONS, name)),
  };
}

/** Reads Kysely's own table, which does not exist before the first migration. */
async function readApplied(store: Store): Promise<{ name: string; timestamp: string }[]> {
  const [table] = await store
    .query<{ name: string | null }>(
      { name: 'find-migrations', text: `SELECT to_regclass('kysely_migration')::text AS name` },
      [],
    )
    .catch((error: unknown) => {
      // The first statement of a service: whoever starts it may have named the wrong database.
      const why = error instanceof Error ? error.message : String(error);
      throw new SchemaError(`Postgres cannot be used: ${why}. Check DATABASE_URL, and that Postgres is running.`, {
        cause: error,
      });
    });
  if (!table?.name) return [];
  return store.query(
    { name: 'read-migrations', text: 'SELECT name, timestamp FROM kysely_migration ORDER BY name' },
    [],
  );
}

export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** Throws if migrations are missing, so that a service stops at its start instead of failing at its first statement. */
export async function requireSchema(url: string): Promise<SchemaStatus> {
  const store = openStore({ url, name: 'capstan-schema', connections: 1 });
  try {
    const schema = await readSchema(store);
    if (schema.missing.length > 0)
      throw new SchemaError(
        `The database lacks ${describe(schema.missing)}, which this version needs. Run \`capstan migrate\` with the same DATABASE_URL.`,
      );
    return schema;
  } finally {
    await store.close();
  }
}

const describe = (names: readonly string[]): string =>
  names.length === 1 ? `the migration ${names[0]}` : `${names.length} migrations, from ${names[0]} to ${names.at(-1)}`;

/**
 * Migrates to the newest version, back by one migration, or to a migration by its name or number. Kysely takes an advisory lock
 * first, so several processes may start at once: one migrates, the others wait.
 */
export async function migrate(store: Store, target: 'up' | 'down' | { to: string } = 'up'): Promise<string[]> {
  const { unknown } = await readSchema(store);
  if (unknown.length > 0) {
    // A newer version has already applied everything that this one knows, and only it can revert its own migrations.
    if (target === 'up') return [];
    throw new SchemaError(
      `The database has ${describe(unknown)}, of a newer version. Revert with that version: \`capstan migrate --to ${Object.keys(MIGRATIONS).at(-1)}\`.`,
    );
  }
  const migrator = migratorOf(store);
  const { error, results } =
    target === 'up'
      ? await migrator.migrateToLatest()
      : target === 'down'
        ? await migrator.migrateDown()
        : await migrator.migrateTo(nameOf(target.to, await migrator.getMigrations()));
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

function nameOf(to: string, migrations: readonly MigrationInfo[]): string {
  const found = migrations.find(({ name }) => name === to || name.startsWith(`${to}-`));
  if (found) return found.name;
  throw new SchemaError(`There is no migration ${to}. \`capstan migrate --status\` lists them.`);
}

export async function migrateDatabase(url: string): Promise<void> {
  const store = openStore({ url, name: 'capstan-migrate', connections: 2 });
  try {
    await migrate(store);
  } finally {
    await store.close();
  }
}

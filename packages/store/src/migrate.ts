import { type MigrationInfo, Migrator } from 'kysely';
import { MIGRATIONS } from './migrations/index.js';
import { openStore, type Store } from './open-store.js';

const migratorOf = (store: Store): Migrator =>
  new Migrator({
    db: store.db,
    provider: { getMigrations: () => Promise.resolve(MIGRATIONS) },
    // Numbers are given out to branches, which do not arrive in their order.
    allowUnorderedMigrations: true,
  });

/** What the schema of a database is, beside what this version knows. */
export type SchemaStatus = {
  migrations: { name: string; applied_at: string | null }[];
  /** Known here, and not applied: `capstan migrate` does it. */
  missing: string[];
  /** Applied by a newer version. Migrations only add to what the version before works with, so this one still works. */
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

/** Kysely's own table, which is not there before the first migration. */
async function readApplied(store: Store): Promise<{ name: string; timestamp: string }[]> {
  const [table] = await store.query<{ name: string | null }>(
    { name: 'find-migrations', text: `SELECT to_regclass('kysely_migration')::text AS name` },
    [],
  );
  if (!table?.name) return [];
  return store.query(
    { name: 'read-migrations', text: 'SELECT name, timestamp FROM kysely_migration ORDER BY name' },
    [],
  );
}

export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** Stops a service that would fail at its first statement, and says what to run. */
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
 * Brings the schema up to date, one migration back, or to a migration by its name or number. Kysely takes an advisory lock first,
 * so several processes may start at once: one migrates, the others wait.
 */
export async function migrate(store: Store, target: 'up' | 'down' | { to: string } = 'up'): Promise<string[]> {
  const { unknown } = await readSchema(store);
  if (unknown.length > 0) {
    // There is nothing to add to what a newer version made, and only that version can take it back.
    if (target === 'up') return [];
    throw new SchemaError(
      `The database has ${describe(unknown)}, of a newer version. Take them back with that version: \`capstan migrate --to ${Object.keys(MIGRATIONS).at(-1)}\`.`,
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

import { BackboneEnv, readEnv } from '@capstan/backbone';
import { migrate, openStore, readSchema, type Store } from '@capstan/store';

export type MigrateOptions = { down?: boolean; status?: boolean; to?: string };

/** `capstan migrate`: migrates the database of DATABASE_URL up, one step down, or to a given step; or shows its status. */
export async function runMigrate({ down = false, status = false, to }: MigrateOptions): Promise<void> {
  const env = readEnv(BackboneEnv, process.env);
  const store = openStore({ url: env.DATABASE_URL, name: 'capstan-migrate', connections: 2 });
  try {
    const lines = status ? await describeSchema(store) : await change(store, down, to);
    process.stdout.write(`${lines.join('\n')}\n`);
  } finally {
    await store.close();
  }
}

async function change(store: Store, down: boolean, to: string | undefined): Promise<string[]> {
  const before = new Set((await readSchema(store)).missing);
  const done = await migrate(store, to === undefined ? (down ? 'down' : 'up') : { to });
  return done.length > 0
    ? done.map((name) => `${before.has(name) ? 'applied' : 'reverted'} ${name}`)
    : ['nothing to do'];
}

async function describeSchema(store: Store): Promise<string[]> {
  const { migrations, missing, unknown } = await readSchema(store);
  return [
    ...migrations.map(({ name, applied_at }) => `${applied_at === null ? 'missing' : 'applied'}  ${name}`),
    ...unknown.map((name) => `unknown  ${name}`),
    '',
    missing.length > 0
      ? `${missing.length} to apply: run \`capstan migrate\`.`
      : unknown.length > 0
        ? 'The database was migrated by a newer version. This version still works with it; upgrade it soon.'
        : 'The database is up to date.',
  ];
}

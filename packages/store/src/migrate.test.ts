import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { insertInvocations } from './invocation/insert-invocations.js';
import { migrate, migrateDatabase } from './migrate.js';
import { MIGRATIONS } from './migrations/index.js';
import type { Store } from './open-store.js';
import { newInvocation } from './testing/new-invocation.js';
import { openTestStore } from './testing/open-test-store.js';

const names = Object.keys(MIGRATIONS);

const shape = async (store: Store) => {
  const { rows } = await sql<{ line: string }>`
    SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable AS line
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'kysely%'
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE 'kysely%'
    UNION ALL SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    ORDER BY 1`.execute(store.db);
  return rows.map((row) => row.line);
};

describe('migrations', () => {
  test('go up, all the way down without leftovers, and up to the same schema again', async () => {
    const store = await openTestStore({ migrated: false });
    expect(await migrate(store)).toEqual(names);
    const first = await shape(store);
    await insertInvocations(store, [newInvocation()]);

    for (const name of names.toReversed()) expect(await migrate(store, 'down')).toEqual([name]);
    expect(await shape(store)).toEqual([]);

    expect(await migrate(store)).toEqual(names);
    expect(await shape(store)).toEqual(first);
    expect(await insertInvocations(store, [newInvocation()])).toMatchObject({ inserted: 1 });
  });

  test('are not applied twice', async () => {
    const store = await openTestStore();
    expect(await migrate(store)).toEqual([]);
  });

  test('started by five processes at once are applied once, and none of the five fails', async () => {
    const store = await openTestStore({ migrated: false });
    await Promise.all(Array.from({ length: 5 }, () => migrateDatabase(store.url)));
    const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(store.db);
    expect(rows.map((row) => row.name)).toEqual(names);
    expect(await insertInvocations(store, [newInvocation()])).toMatchObject({ inserted: 1 });
  });
});

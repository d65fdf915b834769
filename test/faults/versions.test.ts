import { migrate, openStore, type Store } from '@capstan/store';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { hardestQueue } from '../fixtures/queues.js';
import { checkInvariants } from './check-invariants.js';
import { redisFor } from './redis-for.js';
import { LONG_LEASE, startCluster } from './start-cluster.js';
import { submitSums } from './submit-sums.js';
import { untilAllEnded } from './until-all-ended.js';

/** The last migration of the last version. Later ones may only add to what that version reads and writes. */
const LAST_VERSION = '0016-cleared-responses';

/** New constraints on older tables that refuse nothing that the last version writes, and why. */
const HARMLESS: Record<string, string> = {
  'hold_entries CHECK (((iss IS NULL) = (sub IS NULL)))': 'covers new columns, which it leaves null',
  "hold_entries CHECK ((kind = ANY (ARRAY['release'::text, 'reject'::text, 'comment'::text, 'edit'::text, 'return'::text, 'withdraw'::text, 'answer'::text])))":
    'allows one more kind than before',
  "webhooks CHECK ((kind = ANY (ARRAY['standard'::text, 'slack'::text, 'teams'::text, 'email'::text])))":
    'allows two more kinds than before',
};

type Column = { place: string; data_type: string; is_nullable: 'YES' | 'NO'; has_default: boolean };

const columnsOf = async (store: Store): Promise<Map<string, Column>> => {
  const rows = await store.query<Column>(
    {
      name: 'columns',
      text: `SELECT table_name || '.' || column_name AS place, data_type, is_nullable,
          column_default IS NOT NULL OR is_identity = 'YES' OR is_generated = 'ALWAYS' AS has_default
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'kysely%'`,
    },
    [],
  );
  return new Map(rows.map((row) => [row.place, row]));
};

/** Constraints and unique indexes that could refuse a row that the last version writes. */
const constraintsOf = async (store: Store): Promise<Set<string>> => {
  const rows = await store.query<{ rule: string }>(
    {
      name: 'constraints',
      text: `SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) AS rule FROM pg_constraint
          WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f', 'u', 'p', 'x')
        UNION SELECT tablename || ' ' || regexp_replace(indexdef, ' INDEX \\S+ ', ' ') FROM pg_indexes
          WHERE schemaname = 'public' AND indexdef LIKE 'CREATE UNIQUE%' AND tablename NOT LIKE 'kysely%'`,
    },
    [],
  );
  return new Set(rows.map(({ rule }) => rule));
};

test('migrations since the last version only add, so that it can still read and write the database', async () => {
  const { url } = await createTestDatabase();
  const store = openStore({ url, name: 'test', connections: 1 });
  const now = { columns: await columnsOf(store), rules: await constraintsOf(store) };
  await migrate(store, { to: LAST_VERSION });
  const then = { columns: await columnsOf(store), rules: await constraintsOf(store) };
  await store.close();

  const tables = new Set([...then.columns.keys()].map((place) => place.split('.')[0]));
  const changed = [...then.columns].flatMap(([place, column]) => {
    const kept = now.columns.get(place);
    if (!kept) return [`${place} is gone`];
    if (kept.data_type !== column.data_type) return [`${place} was ${column.data_type} and is ${kept.data_type}`];
    return column.is_nullable === 'YES' && kept.is_nullable === 'NO' ? [`${place} may not be null any more`] : [];
  });
  const needed = [...now.columns].flatMap(([place, { is_nullable, has_default }]) =>
    tables.has(place.split('.')[0]) && !then.columns.has(place) && is_nullable === 'NO' && !has_default
      ? [`${place} is new, and must be given`]
      : [],
  );
  const refusing = [...now.rules].filter(
    (rule) => tables.has(rule.split(' ')[0]) && !then.rules.has(rule) && HARMLESS[rule] === undefined,
  );
  expect([...changed, ...needed, ...refusing]).toEqual([]);
});

/** What a future version might do: like all migrations, it only adds. */
const NEWER = [
  'ALTER TABLE invocations ADD COLUMN of_tomorrow text',
  'ALTER TABLE results ADD COLUMN of_tomorrow json',
  'ALTER TABLE claims ADD COLUMN of_tomorrow timestamptz',
  'CREATE TABLE tomorrow (id text PRIMARY KEY)',
  `INSERT INTO kysely_migration VALUES ('9999-tomorrow', '2050-01-01T00:00:00.000Z')`,
];

describe.each(hardestQueue)('on the $name queue', (queue) => {
  test('services go on while a newer version migrates the database under load, and can start on it with a warning', async () => {
    const cluster = await startCluster({ redis: await redisFor(queue), env: LONG_LEASE });
    const accepted: string[] = [];
    let over = false;
    const load = async () => {
      while (!over) {
        const sums = await submitSums(cluster.client, { bulk: 10, lone: 10 });
        expect(sums.refused).toEqual([]);
        accepted.push(...sums.accepted);
      }
    };
    const running = load();
    for (const statement of NEWER) await cluster.ask(statement);
    const [gateway, worker] = await Promise.all([cluster.startGateway(), cluster.startWorker()]);
    for (const service of [gateway.process, worker])
      await service.waitForLine(/9999-tomorrow.*migrated by a newer version/);
    accepted.push(...(await submitSums(gateway.client, { bulk: 10, lone: 10 })).accepted);
    over = true;
    await running;
    await untilAllEnded(cluster.ask);
    await checkInvariants(cluster, accepted);
  });
});

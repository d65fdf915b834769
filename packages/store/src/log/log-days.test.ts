import { DAY_MS, type Retention } from '@capstan/contracts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { redriveInvocations } from '../invocation/redrive-invocations.js';
import { migrate } from '../migrate.js';
import type { Store } from '../open-store.js';
import { resultsWalk } from '../retention/remove-results.js';
import { retentionRules } from '../retention/retention-rule.js';
import { holdOpen } from '../testing/hold-open.js';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne } from '../testing/run-one.js';
import { dropLogDays, makeLogDays } from './log-days.js';
import { appendLogs, readLogs } from './logs.js';

const START = { attempt: 0, seq: 0 };
const KEEPER: Retention = { tenant: 'keeper', results_days: null, updated_by: 'root', created_at: '', updated_at: '' };

/** By partition, what each has. */
const linesBy = async ({ db }: Store) => {
  const { rows } = await sql<{ place: string; count: number }>`
    SELECT regexp_replace(tableoid::regclass::text, '[0-9]{8}', 'day') AS place, count(*)::int AS count
    FROM logs GROUP BY tableoid ORDER BY 1`.execute(db);
  return rows.map(({ place, count }) => `${place} ${count}`);
};
const textsOf = async ({ db }: Store, invocation_id: string) =>
  (await readLogs(db, invocation_id, START)).map(({ text }) => text);
const write = (store: Store, invocation_id: string, text: string, seq = 1) =>
  appendLogs(store, [{ invocation_id, attempt: 1, seq, stream: 'stdout', text }]);

/** Moves everything to the past: renames the days and changes their rows. */
async function longAgo({ db }: Store, days: number): Promise<void> {
  await sql`UPDATE invocations SET created_at = created_at - ${days} * interval '1 day'`.execute(db);
  await sql`UPDATE results SET finished_at = finished_at - ${days} * interval '1 day'`.execute(db);
  const { rows } = await sql<{ name: string; was: string; from: string; to: string }>`
    SELECT relname AS was, to_char(d - ${days}::int, '"logs_"YYYYMMDD') AS name, (d - ${days}::int)::text AS from, (d - ${days}::int + 1)::text AS to
    FROM pg_class, LATERAL (SELECT to_date(substr(relname, 6), 'YYYYMMDD') AS d) AS of
    WHERE relname ~ '^logs_[0-9]{8}$' AND relkind = 'r'`.execute(db);
  for (const { was, name, from, to } of rows) {
    await sql`ALTER TABLE logs DETACH PARTITION ${sql.table(was)}`.execute(db);
    await sql`UPDATE ${sql.table(was)} SET day = ${from}::date`.execute(db);
    await sql`ALTER TABLE ${sql.table(was)} RENAME TO ${sql.table(name)}`.execute(db);
    await sql`ALTER TABLE logs ATTACH PARTITION ${sql.table(name)} FOR VALUES FROM (${sql.lit(from)}) TO (${sql.lit(to)})`.execute(
      db,
    );
  }
}

describe('logs in a partition for each day', () => {
  test('are dropped by day, and lines that are still needed move to logs_kept', async () => {
    const store = await openTestStore();
    const made = await makeLogDays(store);
    expect(made).toHaveLength(8);
    expect(await makeLogDays(store)).toEqual([]);
    const [gone, kept] = [await endOne(store, 'succeeded'), await endOne(store, 'succeeded')];
    await sql`UPDATE invocations SET tenant = 'keeper' WHERE invocation_id = ${kept.invocation_id}`.execute(store.db);
    for (const { invocation_id } of [gone, kept]) await write(store, invocation_id, `of ${invocation_id}`);
    expect(await linesBy(store)).toEqual(['logs_day 2']);

    await longAgo(store, 40);
    await resultsWalk().step(store, retentionRules({ results_days: 30 }, [KEEPER]), 10);
    // It is hidden from readers, but still stored.
    expect(await textsOf(store, gone.invocation_id)).toEqual([]);
    expect(await linesBy(store)).toEqual(['logs_day 2']);

    expect(await dropLogDays(store, 60 * DAY_MS)).toEqual([]);
    expect(await dropLogDays(store, 30 * DAY_MS)).toHaveLength(8);
    expect(await linesBy(store)).toEqual(['logs_kept 1']);
    expect(await textsOf(store, kept.invocation_id)).toEqual([`of ${kept.invocation_id}`]);

    await resultsWalk().step(store, retentionRules({ results_days: 30 }, []), 10);
    expect(await linesBy(store)).toEqual([]);
  });

  test('of tenants with their own rules are deleted call by call, and at once', async () => {
    const store = await openTestStore();
    await makeLogDays(store);
    const { invocation_id } = await endOne(store, 'succeeded');
    await write(store, invocation_id, 'a line');
    await sql`UPDATE results SET finished_at = finished_at - interval '2 days'`.execute(store.db);
    const own = { ...KEEPER, tenant: 'acme', results_days: 1 };
    await resultsWalk().step(store, retentionRules({ results_days: 30 }, [own]), 10);
    expect(await linesBy(store)).toEqual([]);
  });

  test('are written even if the day has no partition, and none is created for it later', async () => {
    const store = await openTestStore();
    const { invocation_id } = await endOne(store, 'succeeded');
    await write(store, invocation_id, 'a line');
    expect(await linesBy(store)).toEqual(['logs_unplanned 1']);
    expect(await makeLogDays(store)).toHaveLength(7);
    await write(store, invocation_id, 'another', 2);
    expect(await textsOf(store, invocation_id)).toEqual(['a line', 'another']);
    expect(await linesBy(store)).toEqual(['logs_unplanned 2']);
    await sql`UPDATE results SET finished_at = finished_at - interval '2 days'`.execute(store.db);
    await resultsWalk().step(store, retentionRules({ results_days: 1 }, []), 10);
    expect(await linesBy(store)).toEqual([]);
  });

  test('are read once if they were written again after midnight', async () => {
    const store = await openTestStore();
    const { invocation_id } = await endOne(store, 'succeeded');
    await makeLogDays(store);
    await write(store, invocation_id, 'a line');
    await longAgo(store, 1);
    await makeLogDays(store);
    await write(store, invocation_id, 'a line');
    await write(store, invocation_id, 'a line');
    expect(await linesBy(store)).toEqual(['logs_day 1', 'logs_day 1']);
    expect(await textsOf(store, invocation_id)).toEqual(['a line']);
  });

  test('do not come back if a call is redriven after its results were removed', async () => {
    const store = await openTestStore();
    await makeLogDays(store);
    const { invocation_id } = await endOne(store, 'failed');
    await write(store, invocation_id, 'a line');
    await sql`UPDATE results SET payload = NULL, removed_at = now()`.execute(store.db);
    await redriveInvocations(
      store,
      { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] },
      { invocation_id },
    );
    expect(await textsOf(store, invocation_id)).toEqual([]);
  });

  test('are not dropped during a long read, and writers do not queue up behind the attempt', async () => {
    const store = await openTestStore();
    await makeLogDays(store);
    const { invocation_id } = await endOne(store, 'succeeded');
    await longAgo(store, 40);
    const dump = await holdOpen(store, (within) => sql`LOCK TABLE logs IN ACCESS SHARE MODE`.execute(within.db));
    await expect(dropLogDays(store, 30 * DAY_MS)).rejects.toMatchObject({ code: '55P03' });
    await write(store, invocation_id, 'a line');
    await dump.commit();
    expect(await dropLogDays(store, 30 * DAY_MS)).toHaveLength(8);
  });

  test('survive the migration to partitions and back, and writers of the old version continue', async () => {
    const store = await openTestStore();
    await migrate(store, { to: '0033-traces' });
    const { invocation_id } = await endOne(store, 'succeeded');
    await write(store, invocation_id, 'before');
    await migrate(store);
    await makeLogDays(store);
    await write(store, invocation_id, 'after', 2);
    expect(await linesBy(store)).toEqual(['logs_day 1', 'logs_kept 1']);
    expect(await textsOf(store, invocation_id)).toEqual(['before', 'after']);
    await migrate(store, { to: '0033-traces' });
    const { rows } = await sql<{ text: string }>`SELECT text FROM logs ORDER BY seq`.execute(store.db);
    expect(rows.map(({ text }) => text)).toEqual(['before', 'after']);
  });
});

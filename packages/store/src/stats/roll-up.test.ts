import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne } from '../testing/run-one.js';
import { percentile } from './buckets.js';
import { readStats } from './read-stats.js';
import { hasEndsToCount, rollUp } from './roll-up.js';

const store = await openTestStore();
const HOUR_MS = 3_600_000;

beforeEach(async () => {
  while ((await rollUp(store)) > 0);
  await sql`TRUNCATE stats`.execute(store.db);
});

const read = (grain: 'minute' | 'hour' = 'hour') =>
  readStats(store.db, {
    tenant: 'acme',
    since: new Date(Date.now() - HOUR_MS).toISOString(),
    until: new Date(Date.now() + HOUR_MS).toISOString(),
    step_s: 24 * 3600,
    by: 'status',
    grain,
    max_series: 10,
  });
const counts = async (grain?: 'minute' | 'hour') =>
  Object.fromEntries(
    (await read(grain)).map(({ key, points }) => [key, points.reduce((sum, { count }) => sum + count, 0)]),
  );

describe('an ended call', () => {
  test('is counted once, in minutes and in hours, however often the rollup runs', async () => {
    for (const status of ['succeeded', 'succeeded', 'failed'] as const) await endOne(store, status, { tenant: 'acme' });
    expect(await hasEndsToCount(store)).toBe(true);
    expect([await rollUp(store), await rollUp(store)]).toEqual([3, 0]);
    expect(await hasEndsToCount(store)).toBe(false);
    for (const grain of ['minute', 'hour'] as const) expect(await counts(grain)).toEqual({ succeeded: 2, failed: 1 });
  });

  test('is counted once by several coordinators, in small batches', async () => {
    for (let at = 0; at < 12; at += 1) await endOne(store, 'succeeded', { tenant: 'acme' });
    const turns = Array.from({ length: 4 }, async () => {
      while (await hasEndsToCount(store)) await rollUp(store, 2);
    });
    await Promise.all(turns);
    expect(await counts()).toEqual({ succeeded: 12 });
  });

  test('is counted once after a coordinator that died before its commit', async () => {
    await endOne(store, 'succeeded', { tenant: 'acme' });
    await sql`CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'gone'; END $$`.execute(
      store.db,
    );
    await sql`CREATE TRIGGER gone BEFORE UPDATE ON stats_cursor FOR EACH ROW EXECUTE FUNCTION fail_once()`.execute(
      store.db,
    );
    await expect(rollUp(store)).rejects.toThrow('gone');
    expect(await counts()).toEqual({});
    await sql`DROP TRIGGER gone ON stats_cursor`.execute(store.db);
    await rollUp(store);
    expect(await counts()).toEqual({ succeeded: 1 });
  });

  test('is counted for its own tenant, with its times', async () => {
    await endOne(store, 'succeeded', { tenant: 'acme' });
    await endOne(store, 'succeeded', { tenant: 'other' });
    await rollUp(store);
    const [series] = await read();
    expect(series?.points).toMatchObject([{ count: 1, failed: 0 }]);
    for (const name of ['wait_p50_ms', 'wait_p95_ms', 'run_p50_ms', 'run_p95_ms'] as const)
      expect(series?.points[0]?.[name]).toBeGreaterThan(0);
  });

  test('is not missed if its transaction began earlier and is committed later', async () => {
    let commit = () => {};
    const asked = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const late = await endOne(store, 'succeeded', { tenant: 'acme' });
    await rollUp(store);
    let opened = () => {};
    const waits = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const transaction = store.db.transaction().execute(async (db) => {
      await sql`UPDATE results SET xid = pg_current_xact_id() WHERE invocation_id = ${late.invocation_id}`.execute(db);
      opened();
      await asked;
    });
    await waits;
    await endOne(store, 'failed', { tenant: 'acme' });
    await rollUp(store);
    commit();
    await transaction;
    while (await hasEndsToCount(store)) await rollUp(store);
    expect(await counts()).toEqual({ succeeded: 2, failed: 1 });
  });
});

test('a percentile is the time of the bucket that reaches that share', () => {
  expect(percentile({}, 0.5)).toBeNull();
  expect(percentile({ 0: 10 }, 0.5)).toBe(1);
  const mostly = { 10: 95, 50: 5 };
  expect([percentile(mostly, 0.5), percentile(mostly, 0.95), percentile(mostly, 0.99)]).toEqual([6, 6, 8342]);
});

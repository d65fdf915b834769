import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { appendLogs } from '../log/logs.js';
import { newInvocation } from '../testing/new-invocation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne, startOne } from '../testing/run-one.js';
import { deleteOldInvocations } from './delete-old.js';
import { insertInvocations } from './insert-invocations.js';

const store = await openTestStore();
const HOUR_MS = 3_600_000;
const age = (id: string, column: 'created_at' | 'finished_at') =>
  sql`UPDATE invocations SET ${sql.ref(column)} = now() - interval '2 hours' WHERE invocation_id = ${id}`.execute(
    store.db,
  );
const idsIn = async (table: 'invocations' | 'attempts' | 'results' | 'logs') => {
  const rows = await store.db.selectFrom(table).select('invocation_id').execute();
  return rows.map((row) => row.invocation_id).sort();
};

afterEach(() => sql`TRUNCATE invocations, attempts, results, logs`.execute(store.db));

test('retention forgets what ended long ago with all that hangs on it, and nothing else', async () => {
  const old = await endOne(store, 'succeeded');
  const lasted = await endOne(store, 'failed');
  const fresh = await endOne(store, 'succeeded');
  const { claimed: running } = await startOne(store);
  const waiting = newInvocation();
  await insertInvocations(store, [waiting]);
  const all = [old, lasted, fresh, running, waiting].map((row) => row.invocation_id);
  await appendLogs(
    store,
    all.map((invocation_id) => ({ invocation_id, attempt: 1, seq: 1, stream: 'stdout', text: 'line' })),
  );
  for (const id of all) await age(id, 'created_at');
  await age(old.invocation_id, 'finished_at');

  expect(await deleteOldInvocations(store, HOUR_MS, 100)).toBe(1);
  const kept = all.filter((id) => id !== old.invocation_id).sort();
  expect(await idsIn('invocations')).toEqual(kept);
  expect(await idsIn('logs')).toEqual(kept);
  expect(await idsIn('attempts')).toEqual([lasted.invocation_id, fresh.invocation_id].sort());
  expect(await idsIn('results')).toEqual([lasted.invocation_id, fresh.invocation_id].sort());
  expect(await deleteOldInvocations(store, HOUR_MS, 100)).toBe(0);
});

test('every kind of end is forgotten, in pieces no larger than asked for', async () => {
  const ends = ['denied', 'canceled', 'ambiguous', 'rejected', 'expired', 'timed_out'] as const;
  const rows = ends.map((status) => newInvocation({ status }));
  await insertInvocations(store, rows);
  for (const { invocation_id } of rows) {
    await age(invocation_id, 'created_at');
    await age(invocation_id, 'finished_at');
  }
  const rounds = [4, 4, 4].map(() => deleteOldInvocations(store, HOUR_MS, 4));
  const deleted = await Promise.all(rounds);
  expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(6);
  expect(Math.max(...deleted)).toBeLessThanOrEqual(4);
});

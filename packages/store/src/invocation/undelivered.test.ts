import type { Delivery } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne, startOne } from '../testing/run-one.js';
import { insertInvocations } from './insert-invocations.js';
import { settleInvocations } from './settle-invocations.js';
import { queuedDeliveries, releaseOverdue, runnersWaiting } from './undelivered.js';

const store = await openTestStore();
const age = () => sql`UPDATE invocations SET created_at = now() - interval '1 minute'`.execute(store.db);
const deliveries = async (min_age_ms: number, page?: number) => {
  const all: Delivery[] = [];
  for await (const some of queuedDeliveries(store, 'exec', min_age_ms, page)) all.push(...some);
  return all;
};

beforeEach(() => sql`TRUNCATE invocations, attempts, results`.execute(store.db));

test('everything queued of a runner type is delivered again once, in order, page by page', async () => {
  const rows = [3, 0, -5, 0, 3, 0].map((priority) => newInvocation({ priority }));
  await insertInvocations(store, [...rows, newInvocation({ runner: 'builtin' }), newInvocation({ status: 'held' })]);
  await endOne(store, 'succeeded');
  await startOne(store);
  await age();
  const expected = [2, 1, 3, 5, 0, 4].map((at) => rows[at]?.invocation_id);
  for (const page of [1, 2, 5, 6, 100])
    expect((await deliveries(1000, page)).map((one) => one.invocation_id)).toEqual(expected);
  expect((await deliveries(0))[0]).toEqual({ invocation_id: expected[0], runner: 'exec', attempt: 0, priority: -5 });
});

test('young ones are left to their own delivery', async () => {
  await insertInvocations(store, manyInvocations(2));
  expect(await deliveries(60_000)).toEqual([]);
  expect(await runnersWaiting(store, 60_000)).toEqual([]);
  await age();
  await insertInvocations(store, manyInvocations(2, { runner: 'builtin' }));
  expect(await deliveries(30_000)).toHaveLength(2);
  expect(await runnersWaiting(store, 30_000)).toEqual(['exec']);
});

test('a retry is overdue when nobody took it after its backoff, not before', async () => {
  const { claimed } = await startOne(store);
  await settleInvocations(store, [newSettlement(claimed, { status: 'queued', backoff_ms: 60_000 })]);
  await age();
  expect(await releaseOverdue(store, 0, 10)).toBeNull();
  expect(await deliveries(0)).toEqual([]);
  await sql`UPDATE invocations SET available_at = now() - interval '5 seconds'`.execute(store.db);
  expect(await releaseOverdue(store, 10_000, 10)).toBeNull();
  expect((await releaseOverdue(store, 3000, 10))?.deliveries).toEqual([
    { invocation_id: claimed.invocation_id, runner: 'exec', attempt: 1, priority: 0, overdue: true },
  ]);
  expect(await releaseOverdue(store, 3000, 10)).toBeNull();
});

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { claimNext } from '../claim/claim-next.js';
import { insertInvocations, type NewInvocation } from '../invocation/insert-invocations.js';
import { liveWorker } from '../testing/live-worker.js';
import { newInvocation } from '../testing/new-invocation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { readScale } from './read-scale.js';

const store = await openTestStore();
beforeEach(() => sql`TRUNCATE invocations, work, claims, holds, workers`.execute(store.db));

/** A call that was submitted an hour ago, and is waiting for a worker. */
async function submitted(given: Partial<NewInvocation> = {}): Promise<string> {
  const row = newInvocation(given);
  await insertInvocations(store, [row]);
  await sql`UPDATE invocations SET created_at = now() - interval '1 hour' WHERE invocation_id = ${row.invocation_id}`.execute(
    store.db,
  );
  await sql`UPDATE work SET status = 'queued', run_at = NULL, expires_at = NULL WHERE invocation_id = ${row.invocation_id}`.execute(
    store.db,
  );
  return row.invocation_id;
}
const oldest = async () => (await readScale(store, ['exec']))[0]?.oldest_wait_s;
const waited = async () => (await claimNext(store, await liveWorker(store), 'exec', 1))[0]?.waited_s;

test('a call has waited for a worker since it was submitted', async () => {
  expect(await oldest()).toBe(0);
  await submitted();
  expect(await oldest()).toBeCloseTo(3600, -2);
  expect(await waited()).toBeCloseTo(3600, -2);
});

test('a call that was held has waited since it was released', async () => {
  const id = await submitted({ status: 'held' });
  await sql`UPDATE holds SET status = 'rejected', live = false, decided_at = now() - interval '1 minute'
    WHERE invocation_id = ${id}`.execute(store.db);
  expect(await oldest()).toBeCloseTo(60, -2);
  expect(await waited()).toBeCloseTo(60, -2);
});

test('a call that was delayed has waited since its time came', async () => {
  const run_at = new Date(Date.now() - 60_000).toISOString();
  await submitted({ status: 'deferred', run_at });
  expect(await oldest()).toBeCloseTo(60, -2);
  expect(await waited()).toBeCloseTo(60, -2);
});

test('a retry has waited since its backoff, and is not counted as a wait for the first attempt', async () => {
  const id = await submitted();
  await sql`UPDATE work SET attempt = 1, available_at = now() - interval '1 minute' WHERE invocation_id = ${id}`.execute(
    store.db,
  );
  expect(await oldest()).toBeCloseTo(60, -2);
  expect(await waited()).toBeNull();
});

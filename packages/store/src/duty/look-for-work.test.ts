import { expect, test } from 'vitest';
import { appendAudit } from '../audit/append-audit.js';
import { chainAudit } from '../audit/chain-audit.js';
import { openTestStore } from '../testing/open-test-store.js';
import { registerWorker, stopWorker } from '../worker/worker-lease.js';
import { lookForWork } from './look-for-work.js';

const store = await openTestStore();

test('nothing is found in an empty installation', async () => {
  expect(await lookForWork(store)).toEqual({
    audit: false,
    fires: false,
    events: false,
    last_lost: null,
    next_lost_in_ms: null,
  });
});

test('a lease is told of before it ends, and after', async () => {
  const worker = { worker_id: 'wrk_1', runners: ['exec' as const], host: 'here', pid: 1, concurrency: 1 };
  await registerWorker(store, worker, 10_000);
  const { next_lost_in_ms, last_lost } = await lookForWork(store);
  expect(last_lost).toBeNull();
  expect(next_lost_in_ms).toBeGreaterThan(0);
  expect(next_lost_in_ms).toBeLessThanOrEqual(10_000);
  await stopWorker(store, 'wrk_1');
  expect(await lookForWork(store)).toMatchObject({ last_lost: expect.any(String), next_lost_in_ms: null });
});

test('an audit event is found until it is in the chain', async () => {
  await appendAudit(store.db, [
    { tenant: 'default', actor: 'ann', event: 'policy.put', subject: 'default', detail: {} },
  ]);
  expect(await lookForWork(store)).toMatchObject({ audit: true });
  await chainAudit(store, 10);
  expect(await lookForWork(store)).toMatchObject({ audit: false });
});

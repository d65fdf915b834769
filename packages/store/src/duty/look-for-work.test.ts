import { expect, test } from 'vitest';
import { appendAudit } from '../audit/append-audit.js';
import { chainAudit } from '../audit/chain-audit.js';
import { rescueClaims } from '../claim/rescue-claims.js';
import { endLease } from '../testing/live-worker.js';
import { openTestStore } from '../testing/open-test-store.js';
import { startOne } from '../testing/run-one.js';
import { registerWorker, stopWorker } from '../worker/worker-lease.js';
import { lookForWork } from './look-for-work.js';

const store = await openTestStore();

test('in an empty installation, no work is found', async () => {
  expect(await lookForWork(store)).toEqual({
    audit: false,
    fires: false,
    events: false,
    rescue: false,
    next_lost_in_ms: null,
  });
});

test('the time until the next lease ends is known in advance', async () => {
  const worker = { worker_id: 'wrk_1', runners: ['exec' as const], host: 'here', pid: 1, concurrency: 1 };
  await registerWorker(store, worker, 10_000);
  const { next_lost_in_ms } = await lookForWork(store);
  expect(next_lost_in_ms).toBeGreaterThan(0);
  expect(next_lost_in_ms).toBeLessThanOrEqual(10_000);
  await stopWorker(store, 'wrk_1');
  expect(await lookForWork(store)).toMatchObject({ rescue: false, next_lost_in_ms: null });
});

test('a receipt of a lost worker is found until it is rescued', async () => {
  const { worker_id } = await startOne(store);
  expect(await lookForWork(store)).toMatchObject({ rescue: false });
  await endLease(store, worker_id);
  expect(await lookForWork(store)).toMatchObject({ rescue: true });
  await rescueClaims(store, 10);
  expect(await lookForWork(store)).toMatchObject({ rescue: false });
});

test('an audit event is found until it is in the chain', async () => {
  await appendAudit(store.db, [
    { tenant: 'default', actor: 'ann', event: 'policy.put', subject: 'default', detail: {} },
  ]);
  expect(await lookForWork(store)).toMatchObject({ audit: true });
  await chainAudit(store, 10);
  expect(await lookForWork(store)).toMatchObject({ audit: false });
});

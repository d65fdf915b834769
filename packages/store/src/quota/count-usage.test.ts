import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { claimForQueue, claimNext } from '../claim/claim-next.js';
import type { Claimed } from '../claim/claimed.js';
import { rescueClaims } from '../claim/rescue-claims.js';
import { settleClaims } from '../claim/settle-claims.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { redriveInvocations } from '../invocation/redrive-invocations.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { countUsage } from './count-usage.js';
import { promoteWaiting } from './promote-waiting.js';
import { putQuota } from './quotas.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const SCOPE = 'tenant:acme';
const under = { quota_scopes: [SCOPE] };
const usage = async () => {
  const [one] = await countUsage(store.db, [SCOPE]);
  return one ? { live: one.live, waiting: one.waiting } : undefined;
};
const promote = () => promoteWaiting(store, { limit: 100, costOf: () => 1, served: new Map() });
const claim = async (count: number) => {
  const worker_id = await liveWorker(store);
  return { worker_id, calls: await claimNext(store, worker_id, 'exec', count) };
};
const end = (calls: readonly Claimed[], completes = false) =>
  settleClaims(
    store,
    calls.map((call) => newSettlement(call)),
    () => completes,
  );

beforeEach(async () => {
  await sql`TRUNCATE invocations, work, claims, attempts, results, workers, quotas, quota_uses`.execute(store.db);
  await putQuota(store, operator, SCOPE, { max_concurrent: 2, on_exceed: 'defer' });
});

describe('a call under a quota', () => {
  test('counts towards the quota from the queue to its end, wherever it is', async () => {
    await insertInvocations(store, manyInvocations(2, under));
    expect(await usage()).toEqual({ live: 2, waiting: 0 });
    const { calls } = await claim(2);
    expect(await usage()).toEqual({ live: 2, waiting: 0 });
    // Its receipt stays for the other one.
    await end(calls.slice(0, 1));
    expect(await usage()).toEqual({ live: 1, waiting: 0 });
    await end(calls.slice(1), true);
    expect(await usage()).toEqual({ live: 0, waiting: 0 });
  });

  test('counts towards the quota while it is in the queue', async () => {
    await insertInvocations(store, manyInvocations(2, under));
    await claimForQueue(store, 'exec', 10, { turn: { last: '' }, on_receipt: 1 });
    expect(await usage()).toEqual({ live: 2, waiting: 0 });
  });

  test('still counts towards the quota during a retry and after the loss of its worker', async () => {
    await insertInvocations(store, manyInvocations(2, under));
    const { worker_id, calls } = await claim(2);
    const retried = calls.slice(0, 1).map((call) => newSettlement(call, { status: 'queued', backoff_ms: 60_000 }));
    await settleClaims(store, retried);
    expect(await usage()).toEqual({ live: 2, waiting: 0 });
    await endLease(store, worker_id);
    await rescueClaims(store, 10);
    expect(await usage()).toEqual({ live: 2, waiting: 0 });
  });

  test('waits for room again when it is redriven', async () => {
    await insertInvocations(store, manyInvocations(1, under));
    const { calls } = await claim(1);
    const failed = calls.map((call) => newSettlement(call, { status: 'failed' }));
    await settleClaims(store, failed, () => true);
    expect(await redriveInvocations(store, operator, {})).toMatchObject({ ready: [] });
    expect(await usage()).toEqual({ live: 0, waiting: 1 });
  });
});

describe('promotion', () => {
  test('queues as many calls as the quota allows, and the next when one has ended', async () => {
    await insertInvocations(store, manyInvocations(5, { ...under, status: 'deferred' }));
    expect((await promote()).ids).toHaveLength(2);
    expect((await promote()).ids).toEqual([]);
    const { calls } = await claim(10);
    expect(calls).toHaveLength(2);
    expect((await promote()).ids).toEqual([]);
    await end(calls.slice(0, 1));
    expect(await promote()).toMatchObject({ ids: [expect.any(String)], ready: ['exec'] });
    expect((await promote()).ids).toEqual([]);
    expect(await usage()).toEqual({ live: 2, waiting: 2 });
  });

  test('by several at once, while calls are taken and end, never exceeds the quota', async () => {
    await insertInvocations(store, manyInvocations(30, { ...under, status: 'deferred' }));
    const worker_id = await liveWorker(store);
    let running = 0;
    let most = 0;
    const work = async () => {
      for (let idle = 0; idle < 3; ) {
        await promote();
        const calls = await claimNext(store, worker_id, 'exec', 1);
        running += calls.length;
        most = Math.max(most, running, (await usage())?.live ?? 0);
        running -= calls.length;
        await end(calls, true);
        idle = calls.length > 0 ? 0 : idle + 1;
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    expect(most).toBe(2);
    expect(await usage()).toEqual({ live: 0, waiting: 0 });
  });
});

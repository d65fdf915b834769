import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { expireInvocations } from '../invocation/expire-invocations.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { getInvocation } from '../invocation/read-invocations.js';
import { setPaused } from '../queue/pause-queue.js';
import { handOver } from '../testing/hand-over.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimForQueue } from './claim-next.js';
import { ownClaims, readClaims } from './own-claims.js';
import { settleClaims } from './settle-claims.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const idsOf = (calls: { invocation_id: string }[]) => calls.map(({ invocation_id }) => invocation_id).sort();
/** A receipt for the queue, with a call on it that expires. */
async function deliverExpiring() {
  const row = newInvocation({ expires_in_ms: 60_000 });
  await insertInvocations(store, [row]);
  const [delivery] = await claimForQueue(store, 'exec', 10, { turn: { last: '' }, on_receipt: 10 });
  if (!delivery) throw new Error('nothing was claimed');
  return { claim_id: delivery.claim_id, invocation_id: row.invocation_id };
}

beforeEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, workers, queues`.execute(store.db));

describe('a receipt', () => {
  test('is owned once, with all calls on it', async () => {
    const rows = manyInvocations(3);
    const { receipt, ids } = await handOver(store, {}, rows);
    const worker_id = await liveWorker(store);
    expect(idsOf(await ownClaims(store, worker_id, [receipt.claim_id]))).toEqual(ids.sort());
    expect(await ownClaims(store, worker_id, [receipt.claim_id])).toEqual([]);
    expect(await ownClaims(store, await liveWorker(store), [receipt.claim_id])).toEqual([]);
  });

  test('is owned by one of ten workers that try at once', async () => {
    const { receipt } = await handOver(store);
    const workers = await Promise.all(Array.from({ length: 10 }, () => liveWorker(store)));
    const owned = await Promise.all(workers.map((worker_id) => ownClaims(store, worker_id, [receipt.claim_id])));
    expect(owned.flat()).toHaveLength(1);
  });

  test('that was handed to one worker is not owned by another', async () => {
    const worker_id = await liveWorker(store);
    const { receipt } = await handOver(store, { worker_id });
    expect(await ownClaims(store, await liveWorker(store), [receipt.claim_id])).toEqual([]);
    expect(await ownClaims(store, worker_id, [receipt.claim_id])).toHaveLength(1);
  });

  test('is not owned by a worker without a live lease, or by an unknown one', async () => {
    const { receipt } = await handOver(store);
    const lost = await liveWorker(store);
    await endLease(store, lost);
    for (const worker_id of [lost, 'wrk_unknown'])
      expect(await ownClaims(store, worker_id, [receipt.claim_id])).toEqual([]);
    expect(await ownClaims(store, await liveWorker(store), [receipt.claim_id])).toHaveLength(1);
  });

  test('is not owned while its queue is paused', async () => {
    const { receipt } = await handOver(store);
    const worker_id = await liveWorker(store);
    await setPaused(store, operator, 'exec', true);
    expect(await ownClaims(store, worker_id, [receipt.claim_id])).toEqual([]);
    await setPaused(store, operator, 'exec', false);
    expect(await ownClaims(store, worker_id, [receipt.claim_id])).toHaveLength(1);
  });

  test('whose call has expired is not owned, and the sweep ends the call', async () => {
    const { claim_id, invocation_id } = await deliverExpiring();
    expect(await expireInvocations(store, 10)).toEqual([]);
    await sql`UPDATE claims SET expires_at = now()`.execute(store.db);
    expect(await ownClaims(store, await liveWorker(store), [claim_id])).toEqual([]);
    expect(await expireInvocations(store, 10)).toEqual([invocation_id]);
    expect(await getInvocation(store.db, 'acme', invocation_id)).toMatchObject({ status: 'expired', attempt: 0 });
    expect(await store.db.selectFrom('claims').select('claim_id').execute()).toEqual([]);
  });

  test('that was owned in time keeps its call past the expiry', async () => {
    const { claim_id } = await deliverExpiring();
    expect(await ownClaims(store, await liveWorker(store), [claim_id])).toHaveLength(1);
    await sql`UPDATE claims SET expires_at = now()`.execute(store.db);
    expect(await expireInvocations(store, 10)).toEqual([]);
  });
});

describe('receipts for the queue', () => {
  test('have as many calls as asked for, and one that expires has a receipt to itself', async () => {
    await insertInvocations(store, [...manyInvocations(5), ...manyInvocations(2, { expires_in_ms: 60_000 })]);
    const deliveries = await claimForQueue(store, 'exec', 100, { turn: { last: '' }, on_receipt: 2 });
    expect(deliveries.map(({ size }) => size).sort()).toEqual([1, 1, 1, 2, 2]);
    expect(await claimForQueue(store, 'exec', 100, { turn: { last: '' }, on_receipt: 2 })).toEqual([]);
  });
});

describe('receipts that a worker reads again', () => {
  test('are its own, and those that it owns', async () => {
    const worker_id = await liveWorker(store);
    const [owned, unowned] = [await handOver(store, { worker_id, owned: true }), await handOver(store, { worker_id })];
    const claim_ids = [owned.receipt.claim_id, unowned.receipt.claim_id];
    expect(idsOf(await readClaims(store, worker_id, claim_ids))).toEqual(owned.ids);
    expect(await readClaims(store, await liveWorker(store), claim_ids)).toEqual([]);
  });

  test('do not bring back calls that have ended', async () => {
    const worker_id = await liveWorker(store);
    const { receipt } = await handOver(store, { worker_id, owned: true }, manyInvocations(2));
    const [ended, running] = await readClaims(store, worker_id, [receipt.claim_id]);
    if (!ended || !running) throw new Error('its worker does not have both');
    await settleClaims(store, [newSettlement(ended)]);
    expect(idsOf(await readClaims(store, worker_id, [receipt.claim_id]))).toEqual([running.invocation_id]);
  });
});

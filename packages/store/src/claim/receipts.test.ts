import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { cancelInvocations } from '../invocation/cancel-invocations.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { getInvocation } from '../invocation/read-invocations.js';
import { redriveInvocations } from '../invocation/redrive-invocations.js';
import { handOver } from '../testing/hand-over.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { placesOf } from '../testing/places-of.js';
import { claimOne } from '../testing/run-one.js';
import { claimNext } from './claim-next.js';
import type { Claimed } from './claimed.js';
import { rescueClaims } from './rescue-claims.js';
import { settleClaims } from './settle-claims.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const read = (id: string) => getInvocation(store.db, 'acme', id);
const receipts = () =>
  store.db.selectFrom('claims').select(['claim_id', 'ids', 'attempts', 'first_attempts']).execute();
const completes = () => true;

/** Three calls on one receipt. */
async function claimThree(): Promise<[Claimed, Claimed, Claimed]> {
  await insertInvocations(store, manyInvocations(3));
  const [one, two, three] = await claimNext(store, await liveWorker(store), 'exec', 3);
  if (!one || !two || !three) throw new Error('not all were claimed');
  expect(await receipts()).toHaveLength(1);
  return [one, two, three];
}

beforeEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, workers`.execute(store.db));

describe('a call that is returned', () => {
  test.each(['queued', 'held'] as const)('as %s leaves its receipt, and the others stay on it', async (status) => {
    const [first, returned, last] = await claimThree();
    await settleClaims(store, [newSettlement(returned, { status, expires_in_ms: 60_000 })]);
    expect(await placesOf(store, returned.invocation_id)).toEqual(['work']);
    expect(await receipts()).toMatchObject([{ attempts: [1, 1], first_attempts: [1, 1] }]);
    for (const other of [first, last]) expect(await placesOf(store, other.invocation_id)).toEqual(['claims']);
    const settled = await settleClaims(store, [newSettlement(first), newSettlement(last)], completes);
    expect(settled.map((one) => one?.status)).toEqual(['succeeded', 'succeeded']);
  });

  test('keeps the attempts of the others where they belong', async () => {
    const [one, two] = await claimThree();
    await settleClaims(store, [newSettlement(two, { status: 'queued', outcome: 'handed_back' })]);
    await sql`UPDATE work SET attempt = 7, first_attempt = 3`.execute(store.db);
    await insertInvocations(store, manyInvocations(1));
    const again = await claimNext(store, await liveWorker(store), 'exec', 2);
    const late = again.find(({ invocation_id }) => invocation_id === two.invocation_id);
    const fresh = again.find(({ invocation_id }) => invocation_id !== two.invocation_id);
    if (!late || !fresh) throw new Error('not both were claimed');
    await settleClaims(store, [newSettlement(fresh, { status: 'queued' })]);
    expect(await read(late.invocation_id)).toMatchObject({ status: 'running', attempt: 8 });
    expect(await read(one.invocation_id)).toMatchObject({ status: 'running', attempt: 1 });
  });

  test('and is returned again, because the answer was lost, does not lose its next claim', async () => {
    const [call] = await claimThree();
    const retry = newSettlement(call, { status: 'queued' });
    await settleClaims(store, [retry]);
    await insertInvocations(store, manyInvocations(1));
    const again = await claimNext(store, await liveWorker(store), 'exec', 2);
    const other = again.find(({ invocation_id }) => invocation_id !== call.invocation_id);
    if (!other) throw new Error('not both were claimed');
    // In one statement: the return from before, and one from the receipt that both calls are on now.
    await settleClaims(store, [retry, newSettlement(other, { status: 'queued' })]);
    expect(await placesOf(store, call.invocation_id)).toEqual(['claims']);
    expect(await read(call.invocation_id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(await placesOf(store, other.invocation_id)).toEqual(['work']);
  });
});

describe('a receipt', () => {
  test('stays while one of its calls goes on, and goes with the last one that ends', async () => {
    const [one, two, three] = await claimThree();
    await settleClaims(store, [newSettlement(one), newSettlement(two)]);
    expect(await receipts()).toHaveLength(1);
    expect(await placesOf(store, one.invocation_id)).toContain('results');
    await settleClaims(store, [newSettlement(three)], completes);
    expect(await receipts()).toEqual([]);
    for (const call of [one, two, three]) expect(await placesOf(store, call.invocation_id)).toEqual(['results']);
  });

  test('is deleted with the last call that is returned, after the others have ended', async () => {
    const [one, two, three] = await claimThree();
    await settleClaims(store, [newSettlement(one), newSettlement(two)]);
    await settleClaims(store, [newSettlement(three, { status: 'queued' })]);
    expect(await receipts()).toEqual([]);
    expect(await placesOf(store, three.invocation_id)).toEqual(['work']);
  });

  test('is deleted if its calls end and are returned in one batch', async () => {
    const [one, two, three] = await claimThree();
    const batch = [newSettlement(one), newSettlement(two, { status: 'queued' }), newSettlement(three)];
    const settled = await settleClaims(store, batch, completes);
    expect(settled.map((one) => one?.status)).toEqual(['succeeded', 'queued', 'succeeded']);
    expect(await receipts()).toEqual([]);
  });

  test('that was handed over is deleted when its last call is canceled', async () => {
    const { ids } = await handOver(store, {}, manyInvocations(2));
    await cancelInvocations(store, operator, { invocation_id: ids[0] ?? '' });
    expect(await receipts()).toMatchObject([{ ids: [ids[1]] }]);
    await cancelInvocations(store, operator, { invocation_id: ids[1] ?? '' });
    expect(await receipts()).toEqual([]);
  });
});

describe('a call that failed and is redriven while others on its receipt go on', () => {
  test('leaves the receipt, so that its lost worker does not bring it back a second time', async () => {
    const [failed, running] = await claimThree();
    await settleClaims(store, [newSettlement(failed, { status: 'failed' })]);
    await redriveInvocations(store, operator, { invocation_id: failed.invocation_id });
    expect(await placesOf(store, failed.invocation_id)).toEqual(['work']);
    const again = await claimOne(store, await liveWorker(store), failed.invocation_id);
    const { worker_id } = await store.db
      .selectFrom('claims')
      .select('worker_id')
      .where('claim_id', '=', running.claim_id)
      .executeTakeFirstOrThrow();
    await endLease(store, worker_id ?? '');
    expect((await rescueClaims(store, 10)).moved).toHaveLength(2);
    expect(await placesOf(store, failed.invocation_id)).toEqual(['claims']);
    expect(await settleClaims(store, [newSettlement(again)], completes)).toMatchObject([{ status: 'succeeded' }]);
  });

  test('is not ended by its first settlement when that is sent again', async () => {
    const [failed] = await claimThree();
    const first = newSettlement(failed, { status: 'failed' });
    await settleClaims(store, [first]);
    await redriveInvocations(store, operator, { invocation_id: failed.invocation_id });
    await settleClaims(store, [first]);
    expect(await placesOf(store, failed.invocation_id)).toEqual(['work']);
    expect(await read(failed.invocation_id)).toMatchObject({ status: 'queued', attempt: 1 });
  });
});

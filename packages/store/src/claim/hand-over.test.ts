import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { getInvocation, listAttempts } from '../invocation/read-invocations.js';
import { setPaused } from '../queue/pause-queue.js';
import { handOver } from '../testing/hand-over.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { placesOf } from '../testing/places-of.js';
import { settleAndTell } from '../testing/settle-and-tell.js';
import { markDraining, stopWorker } from '../worker/worker-lease.js';
import { claimNext } from './claim-next.js';
import { ownClaims, readClaims } from './own-claims.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const read = (id: string) => getInvocation(store.db, 'acme', id);
const places = async (ids: string[]) => Promise.all(ids.map((id) => placesOf(store, id)));

beforeEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, workers, queues, holds`.execute(store.db));

describe('a call that is handed over as it is inserted', () => {
  test('runs at once at the worker that owns its receipt, and is stored nowhere else', async () => {
    const worker_id = await liveWorker(store);
    const { receipt, ids, inserted } = await handOver(store, { worker_id, owned: true });
    expect(inserted).toMatchObject({ inserted: 1, handed: [receipt.claim_id] });
    expect(await places(ids)).toEqual([['claims']]);
    expect(await read(ids[0] ?? '')).toMatchObject({ status: 'running', attempt: 1 });
    expect(await listAttempts(store.db, ids[0] ?? '')).toMatchObject([{ attempt: 1, worker_id, ended_at: null }]);
    expect(await claimNext(store, worker_id, 'exec', 10)).toEqual([]);
  });

  test('is settled like any other', async () => {
    const worker_id = await liveWorker(store);
    const { receipt, ids } = await handOver(store, { worker_id, owned: true });
    const [call] = await readClaims(store, worker_id, [receipt.claim_id]);
    if (!call) throw new Error('its worker does not have it');
    expect(call).toMatchObject({ claim_id: receipt.claim_id, attempt: 1, first_attempt: 1 });
    expect(await settleAndTell(store, [newSettlement(call)])).toEqual([true]);
    expect(await places(ids)).toEqual([['results']]);
  });

  test.each([true, false])(
    'is still queued, without an attempt, until its receipt is owned (to a worker: %s)',
    async (to) => {
      const worker_id = await liveWorker(store);
      const { receipt, ids } = await handOver(store, { worker_id: to ? worker_id : null });
      expect(await places(ids)).toEqual([['claims']]);
      expect(await read(ids[0] ?? '')).toMatchObject({ status: 'queued', attempt: 0 });
      expect(await listAttempts(store.db, ids[0] ?? '')).toEqual([]);
      expect(await claimNext(store, worker_id, 'exec', 10)).toEqual([]);
      expect(await ownClaims(store, worker_id, [receipt.claim_id])).toMatchObject([{ attempt: 1 }]);
      expect(await read(ids[0] ?? '')).toMatchObject({ status: 'running', attempt: 1 });
    },
  );

  test('is stored as without a receipt, with all columns', async () => {
    const given = {
      session_id: 'ses_1',
      labels: { team: 'blue' },
      webhook_url: 'https://example.com/',
      retry_backoff_ms: 5,
      spec_frozen: true,
      spec_hash: 'sha256:spec',
      priority: 3,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      inputs: { text: 'a "quote", a \\, {braces} and \u0000' },
    };
    const { ids } = await handOver(store, {}, [newInvocation(given)]);
    const waiting = newInvocation(given);
    await insertInvocations(store, [waiting]);
    const rowOf = (id: string) =>
      store.db.selectFrom('invocations').selectAll().where('invocation_id', '=', id).executeTakeFirstOrThrow();
    const [handed, waits] = [await rowOf(ids[0] ?? ''), await rowOf(waiting.invocation_id)];
    const { seq: _s, created_at: _c, invocation_id: _i, ...stored } = handed;
    expect(waits).toMatchObject(stored);
  });

  test('is on the receipt of its worker, whichever order the receipts are in', async () => {
    const [one, two] = [await liveWorker(store), await liveWorker(store)];
    const rows = manyInvocations(4);
    const ids = rows.map(({ invocation_id }) => invocation_id);
    const on = (worker_id: string, places: number[]) => ({
      ...{ claim_id: `clm_${worker_id}`, runner: 'exec' as const, worker_id, owned: true },
      ids: places.map((place) => ids[place] ?? ''),
    });
    await insertInvocations(store, rows, { hand_over: [on(two, [1, 3]), on(one, [0, 2])] });
    const inputsOf = async (worker_id: string) =>
      (await readClaims(store, worker_id, [`clm_${worker_id}`])).map(({ invocation_id }) => ids.indexOf(invocation_id));
    expect([await inputsOf(one), await inputsOf(two)]).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  test('leaves the others of its batch to wait in work', async () => {
    const [mine, other] = [newInvocation(), newInvocation()];
    const receipt = { claim_id: 'clm_mine', runner: mine.runner, worker_id: null, owned: false };
    await insertInvocations(store, [mine, other], { hand_over: [{ ...receipt, ids: [mine.invocation_id] }] });
    expect(await places([mine.invocation_id, other.invocation_id])).toEqual([['claims'], ['work']]);
  });
});

describe('a call that cannot be handed over waits in work', () => {
  const refused = async (worker_id: string | null, owned = false) => {
    const { ids, inserted } = await handOver(store, { worker_id, owned }, manyInvocations(2));
    expect(inserted).toMatchObject({ inserted: 2, handed: [] });
    expect(await places(ids)).toEqual([['work'], ['work']]);
    expect(await store.db.selectFrom('claims').select('claim_id').execute()).toEqual([]);
  };

  test.each([true, false])('when its worker is unknown (owned: %s)', async (owned) => {
    await refused('wrk_unknown', owned);
  });

  test.each([true, false])('when the lease of its worker has run out (owned: %s)', async (owned) => {
    const worker_id = await liveWorker(store);
    await endLease(store, worker_id);
    await refused(worker_id, owned);
  });

  test('when its worker was stopped', async () => {
    const worker_id = await liveWorker(store);
    await stopWorker(store, worker_id);
    await refused(worker_id, true);
  });

  test('when its worker is draining', async () => {
    const worker_id = await liveWorker(store);
    await markDraining(store, worker_id);
    await refused(worker_id, true);
  });

  test('when its queue is paused, to a worker or not', async () => {
    await setPaused(store, operator, 'exec', true);
    await refused(null);
    await refused(await liveWorker(store), true);
  });

  test('when another call of its receipt was not inserted', async () => {
    await insertInvocations(store, [newInvocation({ idempotency_key: 'known' })]);
    const rows = [newInvocation(), newInvocation({ idempotency_key: 'known' })];
    const { ids, inserted } = await handOver(store, { worker_id: await liveWorker(store), owned: true }, rows);
    expect(inserted).toMatchObject({ inserted: 1, handed: [] });
    expect(await places(ids)).toEqual([['work'], []]);
  });

  test.each(['held', 'deferred'] as const)('when it is %s', async (status) => {
    const rows = [newInvocation({ status, delay_ms: 60_000 })];
    const { ids, inserted } = await handOver(store, { worker_id: await liveWorker(store), owned: true }, rows);
    expect(inserted).toMatchObject({ inserted: 1, handed: [] });
    expect(await places(ids)).toEqual([['work']]);
    expect(await read(ids[0] ?? '')).toMatchObject({ status });
  });

  test.each([
    { what: 'it expires', given: { expires_in_ms: 60_000 } },
    { what: 'it comes under a quota', given: { quota_scopes: ['tenant:acme'] } },
  ])('when $what', async ({ given }) => {
    const rows = [newInvocation(given)];
    const { ids, inserted } = await handOver(store, { worker_id: await liveWorker(store), owned: true }, rows);
    expect(inserted).toMatchObject({ inserted: 1, handed: [] });
    expect(await places(ids)).toEqual([['work']]);
  });

  test('and ends when it is denied', async () => {
    const rows = [newInvocation({ status: 'denied' })];
    const { ids, inserted } = await handOver(store, { worker_id: await liveWorker(store), owned: true }, rows);
    expect(inserted).toMatchObject({ inserted: 1, handed: [] });
    expect(await places(ids)).toEqual([['results']]);
  });
});

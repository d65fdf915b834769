import { describe, expect, test } from 'vitest';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { insertInvocations } from './insert-invocations.js';
import { getByIdempotencyKeys, getExistingIds, getInvocation } from './read-invocations.js';

const store = await openTestStore();
const existing = (...ids: string[]) => getExistingIds(store.db, ids);
const read = (id: string) => getInvocation(store.db, 'acme', id);

test('inserted invocations are read back completely', async () => {
  const row = newInvocation({ session_id: 's', labels: { team: 'red' }, priority: -7, run_id: 'run_1' });
  const { created_at } = await insertInvocations(store, [row]);
  const {
    tenant: _tenant,
    roles: _roles,
    idempotent: _idempotent,
    spec_frozen: _frozen,
    spec_hash: _hash,
    webhook_url: _webhook,
    delay_ms: _delay,
    expires_in_ms: _expires,
    ...shown
  } = row;
  expect(await read(row.invocation_id)).toEqual({
    ...shown,
    hold_id: null,
    attempt: 0,
    expires_at: null,
    created_at,
    finished_at: null,
    result: null,
  });
});

describe('an idempotency key', () => {
  test('used twice in one batch keeps the first', async () => {
    const [first, second, other] = [
      newInvocation({ idempotency_key: 'once' }),
      newInvocation({ idempotency_key: 'once' }),
      newInvocation({ idempotency_key: 'other' }),
    ];
    expect(await insertInvocations(store, [first, second, other])).toMatchObject({ inserted: 2 });
    const [known] = await getByIdempotencyKeys(store.db, 'acme', ['once']);
    expect(known?.invocation_id).toBe(first.invocation_id);
    expect(await existing(second.invocation_id)).toEqual(new Set());
  });

  test('used in two batches keeps the first, and the rest of the second is inserted', async () => {
    const first = newInvocation({ idempotency_key: 'across' });
    await insertInvocations(store, [first]);
    const [again, fresh] = [newInvocation({ idempotency_key: 'across' }), newInvocation()];
    expect(await insertInvocations(store, [again, fresh])).toMatchObject({ inserted: 1 });
    expect(await existing(again.invocation_id, fresh.invocation_id)).toEqual(new Set([fresh.invocation_id]));
  });

  test('used by fifty at once is one invocation', async () => {
    const rows = manyInvocations(50, { idempotency_key: 'at once' });
    const inserted = await Promise.all(rows.map((row) => insertInvocations(store, [row])));
    expect(inserted.filter((one) => one.inserted === 1)).toHaveLength(1);
    expect(await existing(...rows.map((row) => row.invocation_id))).toHaveProperty('size', 1);
  });

  test('in opposite orders in two batches at once deadlocks neither', async () => {
    const keys = Array.from({ length: 1000 }, (_, index) => `crossing ${index}`);
    const batch = (order: string[]) => order.map((idempotency_key) => newInvocation({ idempotency_key }));
    const sent = [batch(keys), batch(keys.toReversed())];
    const inserted = await Promise.allSettled(sent.map((rows) => insertInvocations(store, rows)));
    expect(inserted.map((one) => one.status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await getByIdempotencyKeys(store.db, 'acme', keys)).toHaveLength(1000);
  });

  test('of another tenant is independent', async () => {
    const rows = ['acme', 'globex'].map((tenant) => newInvocation({ tenant, idempotency_key: 'shared' }));
    expect(await insertInvocations(store, rows)).toMatchObject({ inserted: 2 });
  });

  test('left out never conflicts', async () => {
    expect(await insertInvocations(store, manyInvocations(3))).toMatchObject({ inserted: 3 });
  });
});

describe('the clock is that of Postgres', () => {
  const after = (from: string, ms: number) => new Date(Date.parse(from) + ms).toISOString().slice(0, 23);

  test('for a delay and for an expiry', async () => {
    const row = newInvocation({ status: 'deferred', delay_ms: 60_000, expires_in_ms: 3_600_000 });
    const { created_at } = await insertInvocations(store, [row]);
    const read_back = await read(row.invocation_id);
    expect(read_back?.run_at?.slice(0, 23)).toBe(after(created_at, 60_000));
    expect(read_back?.expires_at?.slice(0, 23)).toBe(after(created_at, 3_600_000));
    expect(read_back?.created_at).toBe(created_at);
  });

  test('a start at a given time is that time in UTC', async () => {
    const row = newInvocation({ status: 'deferred', run_at: '2040-05-06T07:08:09.123+02:00' });
    await insertInvocations(store, [row]);
    expect((await read(row.invocation_id))?.run_at).toBe('2040-05-06T05:08:09.123Z');
  });
});

test('a denied one has ended at once', async () => {
  const row = newInvocation({ status: 'denied' });
  const { created_at } = await insertInvocations(store, [row]);
  expect((await read(row.invocation_id))?.finished_at).toBe(created_at);
});

test('a batch that cannot be stored leaves neither rows nor receipts nor work nor a run', async () => {
  const [good, handed] = [newInvocation(), newInvocation()];
  const run = { run_id: 'run_half', tenant: 'acme', actor: 'ann' };
  const receipt = { claim_id: 'clm_half', runner: 'exec', worker_id: null, owned: false, ids: [handed.invocation_id] };
  const bad = newInvocation({ timeout_ms: 2 ** 40 });
  const hand_over = [{ ...receipt, runner: handed.runner }];
  await expect(insertInvocations(store, [good, handed, bad], { hand_over, run })).rejects.toThrow('out of range');
  expect(await existing(good.invocation_id, handed.invocation_id)).toEqual(new Set());
  const work = store.db.selectFrom('work').select('invocation_id').where('invocation_id', '=', good.invocation_id);
  expect(await work.execute()).toEqual([]);
  expect(await store.db.selectFrom('claims').select('claim_id').execute()).toEqual([]);
  expect(await store.db.selectFrom('runs').select('run_id').execute()).toEqual([]);
});

test('ten thousand are inserted at once', async () => {
  expect(await insertInvocations(store, manyInvocations(10_000))).toMatchObject({ inserted: 10_000 });
});

test('calls inserted late in a transaction are dated when they are inserted, in all their records', async () => {
  const denied = newInvocation({ status: 'denied' });
  const held = newInvocation({ status: 'held' });
  const begun = await store.transact(async (query) => {
    const [row] = await query<{ begun: string }>({ name: 'begin', text: 'SELECT now() AS begun, pg_sleep(0.05)' }, []);
    await insertInvocations({ query }, [denied, held]);
    return row?.begun ?? expect.fail('a transaction has a time');
  });
  const [call] = await store.query<Record<'created_at' | 'finished_at' | 'held_at' | 'audited_at', string>>(
    {
      name: 'times',
      text: `SELECT i.created_at, r.finished_at, h.created_at AS held_at, a.at AS audited_at
        FROM invocations i JOIN results r USING (invocation_id), holds h, audit a
        WHERE i.invocation_id = $1 AND h.invocation_id = $2 AND a.subject = $1`,
    },
    [denied.invocation_id, held.invocation_id],
  );
  expect(call && new Set(Object.values(call)).size).toBe(1);
  expect(Date.parse(call?.created_at ?? '')).toBeGreaterThanOrEqual(Date.parse(begun) + 50);
});

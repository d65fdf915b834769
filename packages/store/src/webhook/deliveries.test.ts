import { DAY_MS, type Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { deleteOldEvents, fanOutEvents } from '../event/fan-out-events.js';
import { recordEvents } from '../event/record-events.js';
import { rewrapSecrets } from '../secret/rewrap-secrets.js';
import { parseSecretKeys } from '../secret/secret-keys.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimDeliveries, listDeliveries, nextDeliveryIn, recordDelivery } from './deliveries.js';
import { getWebhook, insertWebhook, openDefaultSecret, replaceDefaultSecret, updateWebhook } from './webhooks.js';

const store = await openTestStore();
const keys = parseSecretKeys('a'.repeat(64));
const ann: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['admin'] };
const DELIVERED = {
  delivered: true,
  response_status: 200,
  error: null,
  duration_ms: 1,
  backoff_ms: 0,
  give_up_ms: 1000,
  gone: false,
};

const claim = (lease_ms: number, limit = 100, per_target = 100) =>
  claimDeliveries(store, { limit, per_target, lease_ms, busy: [] });
const tell = async (count: number, tenant = 'acme') => {
  const events = Array.from({ length: count }, (_, index) => ({
    tenant,
    type: 'hold.created' as const,
    subject: `hld_${index}`,
    data: {},
  }));
  await store.db.transaction().execute((db) => recordEvents(db, events));
  await fanOutEvents(store, 1000);
};

beforeEach(async () => {
  await sql`DELETE FROM webhooks`.execute(store.db);
  await sql`DELETE FROM events`.execute(store.db);
});

describe('a delivery', () => {
  test('is sent again under the same id if its sender dies, and a late report of the first sender is ignored', async () => {
    await insertWebhook(store, keys, ann, { url: 'https://a.example/', events: ['hold.*'], kind: 'standard' });
    await tell(1);
    const [first] = await claim(0);
    const [second] = await claim(60_000);
    if (!first || !second) throw new Error('not claimed');
    expect([second.event_id, second.attempts]).toEqual([first.event_id, 2]);
    expect(await claim(60_000)).toEqual([]);
    expect(await recordDelivery(store, first, DELIVERED)).toBeNull();
    expect(await recordDelivery(store, second, DELIVERED)).toBe('delivered');
    expect(await claim(0)).toEqual([]);
  });

  test('is claimed once if many processes claim at the same time', async () => {
    await insertWebhook(store, keys, ann, { url: 'https://a.example/', events: ['*'], kind: 'standard' });
    await tell(20);
    const claimed = await Promise.all(Array.from({ length: 5 }, () => claim(60_000, 10)));
    const ids = claimed.flat().map(({ delivery_id }) => delivery_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length + (await claim(60_000)).length).toBe(20);
  });

  test('to one endpoint does not wait for many deliveries to another', async () => {
    for (const url of ['https://a.example/', 'https://b.example/'])
      await insertWebhook(store, keys, ann, { url, events: ['*'], kind: 'standard' });
    await tell(10);
    const claimed = await claim(60_000, 100, 3);
    const count = (url: string) => claimed.filter((one) => one.url === url).length;
    expect([count('https://a.example/'), count('https://b.example/')]).toEqual([3, 3]);
  });

  test('is created once, however often its event is fanned out', async () => {
    await insertWebhook(store, keys, ann, { url: 'https://a.example/', events: ['*'], kind: 'standard' });
    await tell(1);
    await sql`UPDATE events SET fanned_out = false`.execute(store.db);
    await fanOutEvents(store, 10);
    expect(await claim(60_000)).toHaveLength(1);
  });
});

describe('a delivery to an endpoint that somebody disables', () => {
  const disable = (webhook_id: string) => updateWebhook(store, keys, ann, webhook_id, { enabled: false });
  const log = async (webhook_id: string) =>
    (await listDeliveries(store.db, 'acme', webhook_id, { limit: 10 })).items.map(({ state, error }) => [state, error]);
  const GIVEN_UP = ['failed', 'its endpoint was disabled'];
  const create = () => insertWebhook(store, keys, ann, { url: 'https://a.example/', events: ['*'], kind: 'standard' });

  test('is given up if it waits', async () => {
    const { webhook_id } = await create();
    await tell(2);
    await disable(webhook_id);
    expect(await claim(60_000)).toEqual([]);
    expect(await log(webhook_id)).toEqual([GIVEN_UP, GIVEN_UP]);
  });

  test('is given up if it is created at the same moment, and is not found as due again', async () => {
    const { webhook_id } = await create();
    const kept = await insertWebhook(store, keys, ann, { url: 'https://b.example/', events: ['*'], kind: 'standard' });
    await tell(1);
    await disable(webhook_id);
    // The state after a fan-out that read the endpoint just before.
    await sql`UPDATE webhook_deliveries SET state = 'pending', error = NULL`.execute(store.db);
    expect((await claim(60_000)).map((one) => one.webhook_id)).toEqual([kept.webhook_id]);
    expect(await log(webhook_id)).toEqual([GIVEN_UP]);
    expect(await nextDeliveryIn(store, [kept.webhook_id])).toBeNull();
  });

  test('is recorded as delivered if it succeeded in the meantime, and given up if it did not', async () => {
    const { webhook_id } = await create();
    await tell(2);
    const [first, second] = await claim(60_000);
    if (!first || !second) throw new Error('not claimed');
    await disable(webhook_id);
    expect(await recordDelivery(store, first, DELIVERED)).toBe('delivered');
    expect(await recordDelivery(store, second, { ...DELIVERED, delivered: false, error: 'HTTP 500' })).toBeNull();
    expect((await log(webhook_id)).sort()).toEqual([['delivered', null], GIVEN_UP]);
  });
});

describe('an endpoint that has not accepted a delivery until its last try', () => {
  const REFUSED = { ...DELIVERED, delivered: false, error: 'HTTP 400', give_up_ms: 0, backoff_ms: 1 };
  const create = () => insertWebhook(store, keys, ann, { url: 'https://a.example/', events: ['*'], kind: 'standard' });

  test('is disabled if it accepted nothing else in the meantime', async () => {
    const { webhook_id } = await create();
    await tell(1);
    const [only] = await claim(60_000);
    if (!only) throw new Error('not claimed');
    expect(await recordDelivery(store, only, REFUSED)).toBe('failed');
    expect(await getWebhook(store.db, 'acme', webhook_id)).toMatchObject({ enabled: false });
  });

  test('stays enabled if it accepted others: only this delivery is given up', async () => {
    const { webhook_id } = await create();
    await tell(2);
    const [taken, refused] = await claim(60_000);
    if (!taken || !refused) throw new Error('not claimed');
    await recordDelivery(store, taken, DELIVERED);
    expect(await recordDelivery(store, refused, REFUSED)).toBe('failed');
    expect(await getWebhook(store.db, 'acme', webhook_id)).toMatchObject({ enabled: true, disabled_reason: null });
  });
});

test('deliveries that fail for good at the same time do not deadlock', async () => {
  const { webhook_id } = await insertWebhook(store, keys, ann, {
    url: 'https://a.example/',
    events: ['*'],
    kind: 'standard',
  });
  for (let round = 0; round < 10; round += 1) {
    await updateWebhook(store, keys, ann, webhook_id, { enabled: true });
    await tell(4);
    const claimed = await claim(60_000);
    const gone = { ...DELIVERED, delivered: false, gone: true };
    const states = await Promise.all(claimed.map((one) => recordDelivery(store, one, gone)));
    expect(states.filter((state) => state === 'failed')).toHaveLength(1);
    await sql`DELETE FROM events`.execute(store.db);
  }
});

test('an event without a receiver leaves no row', async () => {
  await tell(3, 'quiet');
  const { rows } = await sql`SELECT FROM events`.execute(store.db);
  expect(rows).toEqual([]);
});

test('old delivered events are deleted by tenant; events with open deliveries are not', async () => {
  await insertWebhook(store, keys, ann, { url: 'https://a.example/', events: ['*'], kind: 'standard' });
  await tell(2);
  const [told] = await claim(60_000, 1);
  if (!told) throw new Error('not claimed');
  await recordDelivery(store, told, DELIVERED);
  await sql`UPDATE events SET at = now() - interval '2 days'`.execute(store.db);
  expect(await deleteOldEvents(store, DAY_MS, { only: 'globex' }, 10)).toBe(0);
  expect(await deleteOldEvents(store, DAY_MS, { except: ['globex'] }, 10)).toBe(1);
  const { rows } = await sql<{ event_id: string }>`SELECT event_id FROM events`.execute(store.db);
  expect(rows.map(({ event_id }) => event_id)).not.toContain(told.event_id);
  expect(rows).toHaveLength(1);
});

test('webhook secrets are rewrapped with the others, and can be decrypted with the new key alone', async () => {
  await insertWebhook(store, keys, ann, { url: 'https://a.example/', events: ['*'], kind: 'standard' });
  const signed = await replaceDefaultSecret(store, keys, ann);
  const both = parseSecretKeys(`${'b'.repeat(64)},${'a'.repeat(64)}`);
  expect(await rewrapSecrets(store, both, ann)).toBe(2);
  expect(await openDefaultSecret(store.db, parseSecretKeys('b'.repeat(64)), 'acme')).toBe(signed);
});

import type { Principal } from '@capstan/contracts';
import { beforeAll, describe, expect, test } from 'vitest';
import { cancelInvocations } from './invocation/cancel-invocations.js';
import { insertInvocations } from './invocation/insert-invocations.js';
import { getByIdempotencyKeys, getInvocation, listInvocations } from './invocation/read-invocations.js';
import { redriveInvocations } from './invocation/redrive-invocations.js';
import { resolveInvocation } from './invocation/resolve-invocation.js';
import { createKey, deleteKey, findPrincipal, listKeys } from './key/keys.js';
import { getRun, listRuns } from './run/runs.js';
import { newInvocation } from './testing/new-invocation.js';
import { openTestStore } from './testing/open-test-store.js';
import { endOne } from './testing/run-one.js';

const store = await openTestStore();
const { db } = store;
const stranger: Principal = { key_id: 'key_2', tenant: 'globex', actor: 'eve', roles: ['admin'] };
const owner: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['admin'] };
const page = { limit: 100 };
const NOTHING_REDRIVEN = { ids: [], ready: [] };

const waiting = newInvocation({ idempotency_key: 'secret', session_id: 's', labels: { team: 'red' } });
const inBulk = newInvocation({ run_id: 'run_acme' });
let failed = '';
let ambiguous = '';
let key_id = '';
let secret = '';

beforeAll(async () => {
  await insertInvocations(store, [waiting]);
  const run = { run_id: 'run_acme', tenant: 'acme', actor: 'ann' };
  await insertInvocations(store, [inBulk], { run });
  failed = (await endOne(store, 'failed')).invocation_id;
  ambiguous = (await endOne(store, 'ambiguous')).invocation_id;
  ({ key_id, key: secret } = await createKey(store, owner, { tenant: 'acme', actor: 'ann', roles: ['submit'] }));
});

const everything = () =>
  Promise.all([
    db.selectFrom('invocations').selectAll().orderBy('seq').execute(),
    db.selectFrom('results').selectAll().orderBy('invocation_id').execute(),
    db.selectFrom('keys').selectAll().execute(),
    db.selectFrom('audit').selectAll().orderBy('seq').execute(),
    db.selectFrom('work').selectAll().orderBy('seq').execute(),
    db.selectFrom('claims').selectAll().orderBy('claim_id').execute(),
  ]);

describe('another tenant', () => {
  test.each<[string, () => Promise<unknown>, unknown]>([
    ['an invocation', () => getInvocation(db, 'globex', waiting.invocation_id), undefined],
    ['an idempotency key', () => getByIdempotencyKeys(db, 'globex', ['secret']), []],
    ['the list', () => listInvocations(db, 'globex', {}, page), { items: [], next_cursor: null }],
    [
      'the list by session',
      () => listInvocations(db, 'globex', { session_id: 's' }, page),
      { items: [], next_cursor: null },
    ],
    [
      'the list by label',
      () => listInvocations(db, 'globex', { label: ['team'] }, page),
      { items: [], next_cursor: null },
    ],
    [
      'the list by run',
      () => listInvocations(db, 'globex', { run_id: 'run_acme' }, page),
      { items: [], next_cursor: null },
    ],
    [
      'the list by lone run',
      () => listInvocations(db, 'globex', { run_id: waiting.invocation_id.replace('inv_', 'run_') }, page),
      { items: [], next_cursor: null },
    ],
    ['a run', () => getRun(store, 'globex', 'run_acme'), undefined],
    ['a lone run', () => getRun(store, 'globex', waiting.invocation_id.replace('inv_', 'run_')), undefined],
    ['the list of runs', () => listRuns(store, 'globex', page), { items: [], next_cursor: null }],
    ['the keys', () => listKeys(db, 'globex'), []],
  ])('does not see %s', async (_, look, nothing) => {
    expect(await look()).toEqual(nothing);
  });

  test.each<[string, () => Promise<unknown>, unknown]>([
    ['cancel', () => cancelInvocations(store, stranger, { invocation_id: waiting.invocation_id }), []],
    ['cancel everything', () => cancelInvocations(store, stranger, {}), []],
    ['redrive', () => redriveInvocations(store, stranger, { invocation_id: failed }), NOTHING_REDRIVEN],
    ['redrive everything', () => redriveInvocations(store, stranger, {}), NOTHING_REDRIVEN],
    ['resolve', () => resolveInvocation(store, stranger, ambiguous, { outcome: 'failed', comment: 'mine' }), false],
    ['delete a key', () => deleteKey(store, stranger, key_id, 'globex'), false],
  ])('cannot %s', async (_, act, nothing) => {
    const before = await everything();
    expect(await act()).toEqual(nothing);
    expect(await everything()).toEqual(before);
  });

  test('may use the same session, label and idempotency key, and sees only its own', async () => {
    const own = newInvocation({
      tenant: 'initech',
      idempotency_key: 'secret',
      session_id: 's',
      labels: { team: 'red' },
    });
    expect(await insertInvocations(store, [own])).toMatchObject({ inserted: 1 });
    const { items } = await listInvocations(db, 'initech', { session_id: 's', label: ['team:red'] }, page);
    expect(items.map((item) => item.invocation_id)).toEqual([own.invocation_id]);
    const known = await getByIdempotencyKeys(db, 'initech', ['secret']);
    expect(known.map((item) => item.invocation_id)).toEqual([own.invocation_id]);
  });
});

describe('a key', () => {
  test('is found by its secret, which is not stored', async () => {
    expect(await findPrincipal(db, secret)).toEqual({
      key_id,
      tenant: 'acme',
      actor: 'ann',
      roles: ['submit'],
      pool: null,
    });
    expect(await findPrincipal(db, `${secret}x`)).toBeUndefined();
    expect(JSON.stringify(await everything())).not.toContain(secret);
  });

  test('that was deleted is refused, and both are audited', async () => {
    const key = await createKey(store, owner, { tenant: 'acme', actor: 'bob', roles: ['operate'] });
    expect(await deleteKey(store, owner, key.key_id, 'acme')).toBe(true);
    expect(await findPrincipal(db, key.key)).toBeUndefined();
    const events = await db
      .selectFrom('audit')
      .select('event')
      .where('subject', '=', key.key_id)
      .orderBy('seq')
      .execute();
    expect(events.map((row) => row.event)).toEqual(['key.create', 'key.delete']);
  });
});

import { randomBytes } from 'node:crypto';
import type { Principal } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { openTestStore } from '../testing/open-test-store.js';
import { rewrapSecrets } from './rewrap-secrets.js';
import { parseSecretKeys } from './secret-keys.js';
import { deleteSecret, listSecrets, openSecret, putSecret } from './secrets.js';

const store = await openTestStore();
const { db } = store;
const ann: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['admin'] };
const [one, two] = [randomBytes(32).toString('base64'), randomBytes(32).toString('hex')];
const keys = parseSecretKeys(one);
const VALUE = 'correct horse ü battery';
const place = { tenant: 'acme', name: 'github' };

describe('a secret', () => {
  test('is returned unchanged, to its own tenant only', async () => {
    await putSecret(store, keys, ann, place, { value: VALUE });
    expect(await openSecret(db, keys, place)).toMatchObject({ value: VALUE });
    expect(await openSecret(db, keys, { ...place, tenant: 'globex' })).toBeUndefined();
    expect(await openSecret(db, keys, { ...place, name: 'other' })).toBeUndefined();
  });

  test('is replaced by a new value, which is audited without the value', async () => {
    await putSecret(store, keys, { ...ann, actor: 'bob' }, place, { value: 'another' });
    expect(await openSecret(db, keys, place)).toMatchObject({ value: 'another' });
    expect(await listSecrets(db, 'acme')).toMatchObject([{ name: 'github', updated_by: 'bob', key_id: keys.key_id }]);
    const events = await db.selectFrom('audit').selectAll().where('event', '=', 'secret.put').execute();
    expect(events).toMatchObject([{ subject: 'github' }, { subject: 'github', actor: 'bob' }]);
    expect(JSON.stringify(events)).not.toContain('another');
  });

  test('is never stored as plain text', async () => {
    await putSecret(store, keys, ann, place, { value: VALUE });
    const { sealed } = await db.selectFrom('secrets').select('sealed').executeTakeFirstOrThrow();
    expect(sealed.includes(VALUE)).toBe(false);
    await putSecret(store, keys, ann, place, { value: VALUE });
    const again = await db.selectFrom('secrets').select('sealed').executeTakeFirstOrThrow();
    expect(again.sealed.equals(sealed)).toBe(false);
  });

  test('cannot be decrypted in another place or after a change', async () => {
    const { sealed, key_id } = keys.seal(place, VALUE);
    expect(keys.open(place, { sealed, key_id })).toBe(VALUE);
    expect(() => keys.open({ ...place, tenant: 'globex' }, { sealed, key_id })).toThrow('was changed outside');
    sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
    expect(() => keys.open(place, { sealed, key_id })).toThrow('was changed outside');
  });

  test('is deleted for its own tenant only', async () => {
    expect(await deleteSecret(store, ann, { ...place, tenant: 'globex' })).toBe(false);
    expect(await deleteSecret(store, ann, place)).toBe(true);
    expect(await openSecret(db, keys, place)).toBeUndefined();
  });
});

describe('keys', () => {
  test('are rotated: a new one is added, everything is rewrapped, the old one is removed', async () => {
    await putSecret(store, keys, ann, place, { value: VALUE });
    const both = parseSecretKeys(`${two}, ${one}`);
    expect(await openSecret(db, both, place)).toMatchObject({ value: VALUE });
    await expect(openSecret(db, parseSecretKeys(two), place)).rejects.toThrow('which is not set here');
    expect(await rewrapSecrets(store, both, ann)).toBe(1);
    expect(await openSecret(db, parseSecretKeys(two), place)).toMatchObject({ value: VALUE });
    expect(await rewrapSecrets(store, both, ann)).toBe(0);
  });

  test('are required to store a secret, and the error says what to set', async () => {
    await expect(putSecret(store, parseSecretKeys(undefined), ann, place, { value: VALUE })).rejects.toMatchObject({
      kind: 'ILLEGAL_STATE',
      suggestion: expect.stringContaining('CAPSTAN_SECRETS_KEY'),
    });
  });

  test('that are invalid are refused, and not quoted', () => {
    expect(() => parseSecretKeys('hunter2')).toThrow(/^key 1 is not 32 bytes/);
    expect(() => parseSecretKeys(`${one},short`)).toThrow(/^key 2 is not 32 bytes/);
  });
});

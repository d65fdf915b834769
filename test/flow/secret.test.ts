import { randomBytes } from 'node:crypto';
import { createLog, openBackbone } from '@capstan/backbone';
import { type Client, createClient } from '@capstan/client';
import { prepareFirstStart, startGateway } from '@capstan/gateway';
import { openSecret, parseSecretKeys } from '@capstan/store/secret';
import { beforeAll, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { ADMIN_KEY } from './start-system.js';

const keys = parseSecretKeys(randomBytes(32).toString('base64'));
const limits = { host: '127.0.0.1', port: 0, body_limit: 1_048_576, bulk_limit: 67_108_864 };

const { url: database_url } = await createTestDatabase();
const backbone = await openBackbone({ database_url, name: 'gateway', log: createLog('gateway', 'silent') });
atEnd(() => backbone.close());
await prepareFirstStart(backbone, ADMIN_KEY);
const gateway = await startGateway(backbone, { ...limits, secret_keys: keys });
atEnd(() => gateway.stop());

const clientFor = (key: string): Client => {
  const client = createClient({ url: gateway.url, key });
  atEnd(() => client.close());
  return client;
};
const admin = clientFor(ADMIN_KEY);
let ann: Client;
let acme: Client;
beforeAll(async () => {
  ann = clientFor(
    (await admin.keys.create({ tenant: 'default', actor: 'ann', roles: ['submit', 'operate', 'audit'] })).key,
  );
  acme = clientFor((await admin.keys.create({ tenant: 'acme', actor: 'eve', roles: ['admin'] })).key);
});
const names = async (client: Client, scope = {}) => {
  const { items } = await client.secrets.list(scope).page();
  return items.map(({ name }) => name);
};

test('a secret is kept for its tenant, listed by name, and never shown', async () => {
  const kept = await admin.secrets.put('github', 'value-of-github');
  expect(kept).toMatchObject({ name: 'github', tenant: 'default', key_id: keys.key_id, updated_by: 'admin' });
  expect(JSON.stringify([kept, await admin.secrets.list().page()])).not.toContain('value-of-github');
  expect(await openSecret(backbone.store.db, keys, { tenant: 'default', name: 'github' })).toMatchObject({
    value: 'value-of-github',
  });
});

test('only admins manage secrets, and only those of their own tenant', async () => {
  await expect(ann.secrets.put('x', 'y')).rejects.toMatchObject({ status: 403 });
  await expect(ann.secrets.list().page()).rejects.toMatchObject({ status: 403 });
  await acme.secrets.put('own', 'value-of-acme');
  expect(await names(acme)).toEqual(['own']);
  expect(await names(admin)).not.toContain('own');
  expect(await names(admin, { tenant: 'acme' })).toEqual(['own']);
  await expect(acme.secrets.list({ tenant: 'default' }).page()).rejects.toMatchObject({ status: 403 });
  await expect(acme.secrets.delete('github')).rejects.toMatchObject({ status: 404 });
  await expect(acme.secrets.rewrap()).rejects.toMatchObject({ status: 403 });
});

test('a deleted secret is gone', async () => {
  await admin.secrets.put('short-lived', 'value');
  await admin.secrets.delete('short-lived');
  expect(await names(admin)).not.toContain('short-lived');
  await expect(admin.secrets.delete('short-lived')).rejects.toMatchObject({ status: 404 });
});

test('a secret with a wrong name or an empty value is refused', async () => {
  await expect(admin.secrets.put('no spaces', 'hunter2')).rejects.toMatchObject({ status: 400 });
  await expect(admin.secrets.put('empty', '')).rejects.toMatchObject({ status: 400 });
});

test('a gateway without CAPSTAN_SECRETS_KEY refuses to store secrets and names the setting', async () => {
  const bare = await startGateway(backbone, limits);
  const client = createClient({ url: bare.url, key: ADMIN_KEY });
  await expect(client.secrets.put('x', 'y')).rejects.toMatchObject({
    status: 409,
    suggestion: expect.stringContaining('CAPSTAN_SECRETS_KEY'),
  });
  await client.close();
  await bare.stop();
});

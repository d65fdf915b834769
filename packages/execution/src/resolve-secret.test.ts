import { chmod, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSecretKeys, putSecret } from '@capstan/store/secret';
import { afterAll, describe, expect, test } from 'vitest';
import { openTestStore } from '../../../packages/store/src/testing/open-test-store.js';
import { ownSecrets } from './own-secrets.js';
import { createSecretResolver } from './resolve-secret.js';
import { openSecretFile } from './secret-file.js';
import { newClaimed } from './testing/new-claimed.js';

const store = await openTestStore();
const keys = parseSecretKeys(Buffer.alloc(32, 7).toString('base64'));
const folder = await mkdtemp(join(tmpdir(), 'secrets-'));
afterAll(() => rm(folder, { recursive: true }));
const writeSecrets = async (document: unknown, mode = 0o600, name = 'secrets.json') => {
  const path = join(folder, name);
  await writeFile(path, typeof document === 'string' ? document : JSON.stringify(document));
  await chmod(path, mode);
  return path;
};
const admin = { key_id: 'key_1', tenant: 'default', actor: 'ann', roles: ['admin' as const] };

describe('secret://name', () => {
  test('is resolved for its tenant from the environment, then the file, then Postgres', async () => {
    const path = await writeSecrets({ a: 'file a', b: 'file b', acme: { a: 'acme file a' } });
    for (const name of ['a', 'b', 'c'])
      await putSecret(store, keys, admin, { tenant: 'default', name }, { value: `stored ${name}` });
    await putSecret(store, keys, admin, { tenant: 'acme', name: 'c' }, { value: 'acme stored c' });
    const env = { CAPSTAN_SECRET_A: 'env a', CAPSTAN_SECRET__ACME__D_x2DE: 'acme env d-e', CAPSTAN_SECRET_EMPTY: '' };
    const resolve = createSecretResolver(store, { env, file: openSecretFile(path), keys });
    const of = (tenant: string, name: string) => resolve(newClaimed({ tenant }), name, []);

    expect(await of('default', 'a')).toBe('env a');
    expect(await of('default', 'b')).toBe('file b');
    expect(await of('default', 'c')).toBe('stored c');
    expect(await of('acme', 'a')).toBe('acme file a');
    expect(await of('acme', 'c')).toBe('acme stored c');
    expect(await of('acme', 'd-e')).toBe('acme env d-e');
    for (const [tenant, name] of [
      ['acme', 'b'],
      ['globex', 'a'],
      ['default', 'd-e'],
      ['default', 'empty'],
    ] as const)
      await expect(of(tenant, name)).rejects.toMatchObject({
        kind: 'INVALID_INPUTS',
        message: `There is no secret ${name} for the tenant ${tenant}.`,
      });
    await expect(of('default', '../a')).rejects.toMatchObject({ kind: 'INVALID_INPUTS' });
  });
});

describe('a secret restricted to tools and hosts', () => {
  const resolve = createSecretResolver(store, { env: {}, keys });
  const use = (tool_id: string, hosts: string[] = []) =>
    resolve(newClaimed({ tenant: 'lists', tool_id }), 'token', hosts).catch(({ kind }) => kind);
  const place = { tenant: 'lists', name: 'token' };

  test('is given only to those tools, and only for those hosts', async () => {
    await putSecret(store, keys, admin, place, { value: 'v', tools: ['api.*', 'shell.run'], hosts: ['*.example.com'] });
    expect(await use('api.call', ['api.example.com'])).toBe('v');
    expect(await use('api.call', ['example.com'])).toBe('v');
    expect(await use('shell.run')).toBe('v');
    expect(await use('shell.run', ['*.api.example.com'])).toBe('v');
    for (const hosts of [
      ['example.org'],
      ['api.example.com', 'evil.test'],
      ['badexample.com'],
      ['*'],
      ['*.com'],
      ['not a host'],
    ])
      expect([hosts, await use('api.call', hosts)]).toEqual([hosts, 'SECRET_NOT_GRANTED']);
    expect(await use('browser.script', ['example.com'])).toBe('SECRET_NOT_GRANTED');
  });

  test('keeps its lists when its value changes, and an empty list allows nobody', async () => {
    await putSecret(store, keys, admin, place, { value: 'w', hosts: null });
    expect(await use('api.call', ['example.org'])).toBe('w');
    expect(await use('other')).toBe('SECRET_NOT_GRANTED');
    await putSecret(store, keys, admin, place, { value: 'w', tools: [] });
    expect(await use('api.call')).toBe('SECRET_NOT_GRANTED');
  });

  test('has every use audited, without its value', async () => {
    await putSecret(store, keys, admin, place, { value: 'value-not-to-be-seen', tools: ['a'], hosts: null });
    await use('a', ['example.com']);
    await use('b');
    const rows = await store.db.selectFrom('audit').selectAll().where('tenant', '=', 'lists').orderBy('seq').execute();
    expect(rows.slice(-2)).toMatchObject([
      { event: 'secret.use', subject: 'token', detail: { tool_id: 'a', hosts: ['example.com'] } },
      { event: 'secret.refuse', subject: 'token', detail: { tool_id: 'b' } },
    ]);
    expect(rows.at(-1)?.detail.invocation_id).toMatch(/^inv_/);
    expect(JSON.stringify(rows)).not.toContain('value-not-to-be-seen');
  });
});

describe('the secrets file', () => {
  test.each([0o644, 0o604, 0o620])('is refused with the mode %o', async (mode) => {
    const path = await writeSecrets({ a: 'b' }, mode, `mode-${mode}.json`);
    expect(() => openSecretFile(path)).toThrow('chmod 600');
  });

  test('is refused if it cannot be read, and the error quotes nothing from it', async () => {
    const path = await writeSecrets('{"a": "hunter2-hunter2"', 0o600, 'broken.json');
    expect(() => openSecretFile(path)).toThrow(/^CAPSTAN_SECRETS_FILE: \S+ is not JSON/);
    expect(() => openSecretFile(join(folder, 'absent.json'))).toThrow('ENOENT');
  });

  test('is reloaded when it changes', async () => {
    const path = await writeSecrets({ a: 'old' }, 0o600, 'changing.json');
    const file = openSecretFile(path);
    await writeFile(path, JSON.stringify({ a: 'new' }));
    await utimes(path, 1, 1);
    expect(file.get('default', 'a')).toBe('new');
  });
});

test("the worker's own secrets are the passwords in its URLs and the variables named like secrets", () => {
  const secrets = ownSecrets({
    DATABASE_URL: 'postgres://user:p%40ss-of-database@h/db',
    REDIS_URL: 'redis://:pass-of-redis@h',
    CAPSTAN_DB_MAIN: 'postgres://u:pass-of-main-db@h/x',
    CAPSTAN_API_KEY: 'cap_1234567890',
    CAPSTAN_SECRETS_KEY: 'key-of-secrets-1, key-of-secrets-2',
    CAPSTAN_SECRET_X: 'value-of-secret-x',
    GITHUB_TOKEN: 'token-of-github',
    AWS_SECRET_ACCESS_KEY: 'key-of-aws',
    SSH_KEY_FILE: '/etc/ssh/some-key',
    SHORT_TOKEN: 'abc',
    PATH: '/usr/local/bin:/usr/bin',
    KEYBOARD: 'a-keyboard-layout',
  });
  expect(secrets.sort()).toEqual(
    [
      'p@ss-of-database',
      'pass-of-redis',
      'pass-of-main-db',
      'cap_1234567890',
      'key-of-secrets-1',
      'key-of-secrets-2',
      'value-of-secret-x',
      'token-of-github',
      'key-of-aws',
    ].sort(),
  );
});

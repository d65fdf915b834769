import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listSettings } from '@capstan/standalone';
import { migrate, openStore } from '@capstan/store';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { findRepository } from '../fixtures/find-repository.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import { tempDir } from '../fixtures/temp-dir.js';

const run = async (args: string[], env: Record<string, string>, cwd?: string) => {
  const capstan = await spawnCapstan(args, env, cwd === undefined ? {} : { cwd });
  const { code } = await capstan.exited;
  return { code, out: capstan.stdout.join('\n'), err: capstan.stderr.join('\n') };
};

describe('capstan.yaml', () => {
  test('sets what the environment does not, and capstan config shows the source of each setting and hides secrets', async () => {
    const cwd = await tempDir();
    const file = `DATABASE_URL: postgres://capstan:a-password@db:5432/capstan
CAPSTAN_API_KEY: a-key-of-the-tests
CAPSTAN_PORT: 7171
CAPSTAN_ALLOWED_HOSTS: [one.example, two.example]
CAPSTAN_LOG_LEVEL: debug
CAPSTAN_LOG_LEVLE: warn
CAPSTAN_DB_MAIN: sqlite:/tmp/a
`;
    await writeFile(join(cwd, 'capstan.yaml'), file);
    const { code, out } = await run(['config', '--json'], { CAPSTAN_LOG_LEVEL: 'warn' }, cwd);
    const { settings, unknown } = JSON.parse(out);
    const shown = (name: string) => settings.find((setting: { name: string }) => setting.name === name);
    const from = join(cwd, 'capstan.yaml');
    expect(code).toBe(0);
    expect(shown('DATABASE_URL')).toMatchObject({ value: 'postgres://capstan:(hidden)@db:5432/capstan', from });
    expect(shown('CAPSTAN_API_KEY')).toMatchObject({ value: '(hidden)', from });
    expect(shown('CAPSTAN_PORT')).toMatchObject({ value: '7171', from, services: ['gateway'] });
    expect(shown('CAPSTAN_ALLOWED_HOSTS')).toMatchObject({ value: 'one.example,two.example', from });
    expect(shown('CAPSTAN_LOG_LEVEL')).toMatchObject({ value: 'warn', from: 'environment' });
    expect(unknown).toEqual(['CAPSTAN_LOG_LEVLE']);
    expect(out).not.toContain('a-password');
  });

  test('with an unknown setting or a wrong value is refused, and the setting is named', async () => {
    const cwd = await tempDir();
    await writeFile(join(cwd, 'capstan.yaml'), 'port: 7171\n');
    expect(await run(['config'], {}, cwd)).toMatchObject({
      code: 2,
      err: expect.stringContaining('"port" is not a setting'),
    });
    await writeFile(join(cwd, 'capstan.yaml'), 'CAPSTAN_PORT: many\n');
    expect(await run(['config'], {}, cwd)).toMatchObject({
      code: 1,
      err: expect.stringContaining('CAPSTAN_PORT is invalid'),
    });
  });
});

describe('the schema of the database', () => {
  test('is shown by migrate --status and changed by --to, and a service that lacks a migration says what to run', async () => {
    const { url: DATABASE_URL } = await createTestDatabase();
    const env = { DATABASE_URL, CAPSTAN_PORT: '0' };
    expect((await run(['migrate', '--status'], env)).out).toMatch(/applied {2}0001-foundation(.|\n)*up to date/);
    expect((await run(['migrate', '--to', '0016'], env)).out).toContain('reverted 0033-traces');
    const refused = await run(['gateway'], env);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/The database lacks .* Run `capstan migrate`/);
    expect((await run(['migrate'], env)).out).toContain('applied 0033-traces');
    const nowhere = await run(['gateway'], { ...env, DATABASE_URL: 'postgres://127.0.0.1:1/capstan' });
    expect(nowhere.code).toBe(1);
    expect(nowhere.err).toMatch(/Postgres cannot be used: connect ECONNREFUSED.* Check DATABASE_URL/);
    expect((await run(['gateway'], { DATABASE_URL: 'db:5432' })).err).toContain(
      'DATABASE_URL is invalid: it must be a postgres:// URL',
    );
  });

  test('of a newer version is left unchanged', async () => {
    const { url } = await createTestDatabase();
    const store = openStore({ url, name: 'test', connections: 1 });
    await store.query(
      { name: 'newer', text: `INSERT INTO kysely_migration VALUES ('9999-newer', '2050-01-01T00:00:00Z')` },
      [],
    );
    expect(await migrate(store)).toEqual([]);
    await expect(migrate(store, 'down')).rejects.toThrow(/9999-newer, of a newer version/);
    await store.close();
  });
});

test('the configuration reference lists every setting and the services that read it', () => {
  const text = readFileSync(new URL('docs/reference/configuration.md', findRepository()), 'utf8');
  const documented = new Map<string, string>();
  for (const line of text.split('\n').filter((row) => row.startsWith('| `'))) {
    const [, names = '', readers = ''] = line.split('|');
    const [first = '', ...others] = [...names.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name);
    for (const name of [
      first,
      ...others.map((other) => (other.startsWith('_') ? first.replace(/_[A-Z0-9]+$/, '') + other : other)),
    ])
      documented.set(name, readers);
  }
  const missing = listSettings().filter(({ name }) => !documented.has(name));
  expect(missing.map(({ name, services }) => `${name} (${services.join(', ')})`)).toEqual([]);
  const wrong = listSettings().filter(({ name, services }) => {
    const readers = documented.get(name) ?? '';
    return (
      !/\ball\b/.test(readers) &&
      services.some((service) => !readers.includes(service === 'up' ? 'capstan up' : service))
    );
  });
  expect(wrong.map(({ name, services }) => `${name} is read by ${services.join(', ')}`)).toEqual([]);
});

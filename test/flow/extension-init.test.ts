import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '@capstan/client';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import { tempDir } from '../fixtures/temp-dir.js';

const KEY = 'a-key-of-the-tests';
let env: Record<string, string> = {};
let admin: Client;
let cwd = '';
beforeEach(async () => {
  cwd = await tempDir();
});

beforeAll(async () => {
  const { url: DATABASE_URL } = await createTestDatabase();
  const up = await spawnCapstan(['up'], { DATABASE_URL, CAPSTAN_PORT: '0', CAPSTAN_API_KEY: KEY });
  const [, url = ''] = await up.waitForLine(/is up at (\S+)/);
  env = { CAPSTAN_URL: url, CAPSTAN_API_KEY: KEY };
  admin = createClient({ url, key: KEY });
  atEnd(() => admin.close());
  await admin.policies.put('default', { rules: [{ id: 'all', effect: 'allow', match: { tool: 'ext:*' } }] });
});

const capstan = (...args: string[]) => spawnCapstan(['extension', ...args], env, { cwd });
const greet = async () => {
  const call = await admin.submit({ tool_id: 'ext:greeter:greet', inputs: { name: 'Ada' } }, { wait_s: 20 });
  return call.result?.payload;
};

test('a new extension runs the script in its folder, and again whenever a file of it changes', async () => {
  const made = await capstan('init', 'greeter');
  expect((await made.exited).code, made.stderr.join('\n')).toBe(0);
  expect(made.stdout.join('\n')).toContain('capstan extension add greeter');

  const watching = await capstan('add', 'greeter', '--watch');
  await watching.waitForLine(/1 tool added/);
  await watching.waitForLine(/Waiting for greeter to change/);
  expect(await greet()).toMatchObject({ stdout: 'Hello, Ada.\n', exit_code: 0 });

  const script = join(cwd, 'greeter/tools/greet');
  await writeFile(script, (await readFile(script, 'utf8')).replace('Hello', 'Welcome'));
  await watching.waitForLine(/1 tool changed|1 changed/);
  await expect.poll(greet).toMatchObject({ stdout: 'Welcome, Ada.\n' });
  watching.kill('SIGINT');
  expect((await watching.exited).code).toBe(130);
});

test('a folder with something in it is left as it is', async () => {
  await writeFile(join(cwd, 'notes.txt'), 'mine');
  const made = await capstan('init', '.');
  expect((await made.exited).code).toBe(2);
  expect(made.stderr.join('\n')).toContain('is not empty');
  expect(await readdir(cwd)).toEqual(['notes.txt']);
});

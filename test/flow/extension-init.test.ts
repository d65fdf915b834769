import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
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
  const call = await admin.submit({ tool_id: 'ext:greeter:greet', inputs: { name: 'Ada' } }, { wait_s: 30 });
  return call.result?.payload;
};

test('a new extension runs the script in its folder, and add --watch installs every change to it and the files beside it', async () => {
  const made = await capstan('init', 'greeter');
  expect((await made.exited).code, made.stderr.join('\n')).toBe(0);
  expect(made.stdout.join('\n')).toContain('capstan extension add greeter');

  const watching = await capstan('add', 'greeter', '--watch');
  await watching.waitForLine(/1 tool added/);
  await watching.waitForLine(/Watching greeter for changes/);
  expect(await greet()).toMatchObject({ stdout: 'Hello, Ada.\n', exit_code: 0 });

  const script = join(cwd, 'greeter/tools/greet');
  await writeFile(script, (await readFile(script, 'utf8')).replace('Hello', 'Welcome'));
  await watching.waitForLine(/1 tool changed|1 changed/);
  await expect.poll(greet).toMatchObject({ stdout: 'Welcome, Ada.\n' });

  // A new file in a new subfolder, which the script reads.
  await writeFile(script, '#!/bin/sh\necho "$(cat "$(dirname "$0")/data/words/hello.txt"), $2."\n');
  await expect.poll(greet).toMatchObject({ stdout: ', Ada.\n' });
  await mkdir(join(cwd, 'greeter/tools/data/words'), { recursive: true });
  await writeFile(join(cwd, 'greeter/tools/data/words/hello.txt'), 'Good morning');
  await expect.poll(greet).toMatchObject({ stdout: 'Good morning, Ada.\n' });
  watching.kill('SIGINT');
  expect((await watching.exited).code).toBe(130);
});

test('capstan extension init refuses a folder that is not empty', async () => {
  await writeFile(join(cwd, 'notes.txt'), 'mine');
  const made = await capstan('init', '.');
  expect((await made.exited).code).toBe(2);
  expect(made.stderr.join('\n')).toContain('is not empty');
  expect(await readdir(cwd)).toEqual(['notes.txt']);
});

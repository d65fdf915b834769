import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkLimits, checkSandbox } from './check-sandbox.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'doctor-'));
});
afterEach(() => rm(directory, { recursive: true }));

const install = async (name: string, exit_code: number) => {
  await writeFile(join(directory, name), `#!/bin/sh\nexit ${exit_code}\n`);
  await chmod(join(directory, name), 0o755);
};
const check = () => checkSandbox({ PATH: directory });

test('a working bubblewrap is reported as ok', async () => {
  await install('bwrap', 0);
  expect(check()).toEqual({ name: 'sandbox', state: 'ok', found: `bubblewrap, ${join(directory, 'bwrap')}` });
});

test('a bubblewrap that is installed but fails is blamed on user namespaces', async () => {
  await install('bwrap', 1);
  expect(check()).toMatchObject({ state: 'absent', advice: expect.stringContaining('user namespaces') });
});

test('without bubblewrap, namespaces are used and bubblewrap is recommended', async () => {
  await install('unshare', 0);
  await install('setpriv', 0);
  expect(check()).toMatchObject({
    state: 'absent',
    found: expect.stringContaining('namespaces'),
    advice: expect.stringContaining('apt install bubblewrap'),
  });
});

test('without any sandbox, only LOW risk tools run', () => {
  expect(check()).toMatchObject({ state: 'absent', found: expect.stringContaining('LOW') });
  expect(checkLimits({ PATH: directory })).toMatchObject({ state: 'absent' });
});

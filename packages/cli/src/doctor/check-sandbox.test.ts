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

test('bubblewrap that works is all there is to say', async () => {
  await install('bwrap', 0);
  expect(check()).toEqual({ name: 'sandbox', state: 'ok', found: `bubblewrap, ${join(directory, 'bwrap')}` });
});

test('bubblewrap that is there and does not work is a matter of the kernel', async () => {
  await install('bwrap', 1);
  expect(check()).toMatchObject({ state: 'absent', advice: expect.stringContaining('user namespaces') });
});

test('namespaces are used without it, and it is advised', async () => {
  await install('unshare', 0);
  await install('setpriv', 0);
  expect(check()).toMatchObject({
    state: 'absent',
    found: expect.stringContaining('namespaces'),
    advice: expect.stringContaining('apt install bubblewrap'),
  });
});

test('without any of them only tools of low risk run', () => {
  expect(check()).toMatchObject({ state: 'absent', found: expect.stringContaining('LOW') });
  expect(checkLimits({ PATH: directory })).toMatchObject({ state: 'absent' });
});

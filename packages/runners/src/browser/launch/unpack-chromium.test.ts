import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folderName, unpackChromium } from './unpack-chromium.js';

const isHere = process.platform === 'linux' && process.arch === 'x64';

test.skipIf(!isHere)(
  'is unpacked once by concurrent processes, again if files are missing, and never used if others could have changed it',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'capstan-unpack-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    await mkdir(join(root, await folderName()), { mode: 0o700 });
    const [one, other] = await Promise.all([unpackChromium(root), unpackChromium(root)]);
    expect(one).toEqual(other);
    expect(await readdir(root)).toEqual([await folderName()]);
    expect(await readdir(one.folder)).toContain('chromium');
    await chmod(one.folder, 0o777);
    await expect(unpackChromium(root)).rejects.toMatchObject({ kind: 'EXECUTABLE_NOT_FOUND' });
  },
);

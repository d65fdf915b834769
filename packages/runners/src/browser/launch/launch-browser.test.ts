import { readFile } from 'node:fs/promises';
import { processesWith } from '@capstan/sandbox/testing';
import { expect, test } from 'vitest';
import { launchBrowser } from './launch-browser.js';

/** The filter of the browser process itself; it gives its pages their own filters. */
const MAIN = '--remote-debugging-pipe';

test.each([
  ['as it is found', process.env.PATH],
  ['without bubblewrap', ''],
])('a browser, %s, has a system call filter and leaves nothing behind when it is closed', async (_, path) => {
  const launched = await launchBrowser({ path });
  const own = await ownBrowsers();
  const filtered = await Promise.all(
    own.map(async (pid) => /^Seccomp:\s+2$/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))),
  );
  await launched.close();
  expect(launched.sandbox).toMatch(/\+seccomp/);
  // The script's successor, `init`, and the browser: the first two hold the wall and are not behind it.
  expect(filtered.filter(Boolean).length).toBeGreaterThan(0);
  expect((await processesWith(MAIN)).filter((pid) => own.includes(pid))).toEqual([]);
});

/** Other tests launch browsers at the same time. */
async function ownBrowsers(): Promise<number[]> {
  const own = await Promise.all((await processesWith(MAIN)).map(async (pid) => ((await isOurs(pid)) ? [pid] : [])));
  return own.flat();
}

async function isOurs(pid: number): Promise<boolean> {
  if (pid <= 1) return false;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const parent = Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1] ?? 0);
  return parent === process.pid || isOurs(parent);
}

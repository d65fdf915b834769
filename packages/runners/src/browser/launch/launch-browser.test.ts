import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { processesWith } from '../../testing/processes-with.js';
import { launchBrowser } from './launch-browser.js';

/** Of the browser itself; it gives its pages filters of their own. */
const MAIN = '--remote-debugging-pipe';

test.each([
  ['as it is found', process.env.PATH],
  ['without bubblewrap', ''],
])(
  'a browser, %s, has its system calls filtered and leaves nothing when it is closed',
  async (_, path) => {
    const before = new Set(await processesWith(MAIN));
    const launched = await launchBrowser({ path });
    const own = (await processesWith(MAIN)).filter((pid) => !before.has(pid));
    const filtered = await Promise.all(
      own.map(async (pid) => /^Seccomp:\s+2$/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))),
    );
    await launched.close();
    expect(launched.sandbox).toMatch(/\+seccomp/);
    // The script's successor, `init`, and the browser: the first two hold the wall and are not behind it.
    expect(filtered.filter(Boolean).length).toBeGreaterThan(0);
    const left = (await processesWith(MAIN)).filter((pid) => own.includes(pid));
    expect(left).toEqual([]);
  },
  60_000,
);

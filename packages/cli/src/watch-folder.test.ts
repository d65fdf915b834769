import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { watchFolder } from './watch-folder.js';

let root = '';
let heard: string[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'capstan-watch-'));
  heard = [];
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort();
    await rm(root, { recursive: true });
  });
  await mkdir(join(root, 'node_modules'));
  watchFolder(root, ending.signal, (path) => void heard.push(path.slice(root.length + 1)));
});

const write = (path: string) => writeFile(join(root, path), 'text');
/** As editors save. */
const replace = async (path: string): Promise<void> => {
  await write(`${path}~`);
  await rename(join(root, `${path}~`), join(root, path));
};
const untilHeard = async (path: string): Promise<void> => {
  await expect.poll(() => heard).toContain(path);
  heard = [];
};

test('a file that is replaced again and again is heard of each time', async () => {
  for (let n = 0; n < 3; n += 1) {
    await replace('a.ts');
    await untilHeard('a.ts');
  }
});

test('files in new folders are heard of, also once a folder was deleted and made again', async () => {
  for (let n = 0; n < 2; n += 1) {
    await mkdir(join(root, 'data/words'), { recursive: true });
    await write('data/words/hello.txt');
    await untilHeard(join('data', 'words', 'hello.txt'));
    await replace('data/words/hello.txt');
    await untilHeard(join('data', 'words', 'hello.txt'));
    await rm(join(root, 'data'), { recursive: true });
    await untilHeard('data');
  }
});

test('installed packages are not watched', async () => {
  await mkdir(join(root, 'node_modules/zod'));
  await write('node_modules/zod/index.js');
  await write('a.ts');
  await expect.poll(() => heard).toContain('a.ts');
  expect(heard.filter((path) => path !== 'a.ts')).toEqual([]);
});

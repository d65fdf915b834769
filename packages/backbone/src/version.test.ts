import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { VERSION } from './version.js';

test('the version that metrics and traces tell is the one in package.json', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(version);
});

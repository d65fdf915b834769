import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { VERSION } from './version.js';

test('the version in metrics and traces is that of package.json', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(version);
});

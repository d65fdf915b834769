import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { tempDir } from '../../../../test/fixtures/temp-dir.js';
import { closePipe, createPipes } from './open-pipe.js';

test('more pipes are made in the background before the last one is used', async () => {
  const directory = await tempDir();
  const openPipe = createPipes(directory);
  const first = openPipe();
  const made = () => readdirSync(join(directory, 'pipes')).length;
  const at_first = made();
  const opened = [first, ...Array.from({ length: at_first / 2 }, openPipe)];
  await vi.waitFor(() => expect(made()).toBeGreaterThan(at_first));
  expect(new Set(opened.map(({ name }) => name)).size).toBe(opened.length);
  for (const pipe of opened) {
    closePipe(pipe);
    pipe.reader.destroy();
  }
});

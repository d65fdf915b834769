import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { closePipe, createPipes } from './open-pipe.js';

test('more pipes are made in the background before the last one is used', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pipes-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const openPipe = createPipes(directory);
  const first = openPipe();
  const made = () => readdirSync(directory).length;
  const at_first = made();
  const opened = [first, ...Array.from({ length: at_first / 2 }, openPipe)];
  await vi.waitFor(() => expect(made()).toBe(2 * at_first));
  expect(new Set(opened.map(({ name }) => name)).size).toBe(opened.length);
  for (const pipe of opened) {
    closePipe(pipe);
    pipe.reader.destroy();
  }
});

import { expect, test } from 'vitest';
import { SingleFile } from './call-writer.js';

/** A file whose writes end on command of the test. */
function openFile(size = { first: 2, most: 4 }) {
  const batches: number[][] = [];
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const file = new SingleFile<number>((rows) => {
    batches.push(rows);
    return new Promise((resolve, reject) => ends.push({ resolve, reject }));
  }, size);
  return { file, batches, ends };
}

test('rows added during a write go into the next batch together', async () => {
  const { file, batches, ends } = openFile();
  for (const row of [1, 2, 3, 4, 5]) file.add(row);
  expect(batches).toEqual([[1, 2]]);
  const written = file.written();
  ends[0]?.resolve();
  await Promise.resolve();
  expect(batches).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  ends[1]?.resolve();
  await written;
});

test('a batch is limited in size, and the remaining rows go into the next one', async () => {
  const { file, batches, ends } = openFile({ first: 10, most: 2 });
  for (const row of [1, 2, 3]) file.add(row);
  expect(batches).toEqual([]);
  const written = file.written();
  ends[0]?.resolve();
  await Promise.resolve();
  ends[1]?.resolve();
  await written;
  expect(batches).toEqual([[1, 2], [3]]);
});

test('nothing is written after a failed write', async () => {
  const { file, batches, ends } = openFile();
  for (const row of [1, 2, 3]) file.add(row);
  ends[0]?.reject(new Error('no room'));
  await expect(file.written()).rejects.toThrow('no room');
  file.add(4);
  expect(batches).toEqual([[1, 2]]);
});

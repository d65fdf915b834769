import { expect, test } from 'vitest';
import { SingleFile } from './single-file.js';

/** Writes when it is told to. */
function openFile(size = { first: 2, most: 4 }) {
  const batches: number[][] = [];
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const file = new SingleFile<number>((rows) => {
    batches.push(rows);
    return new Promise((resolve, reject) => ends.push({ resolve, reject }));
  }, size);
  return { file, batches, ends };
}

test('some are written while more come, which go together in the next', async () => {
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

test('a write has so many at most, and the rest goes with the next', async () => {
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

test('after one that failed nothing is written', async () => {
  const { file, batches, ends } = openFile();
  for (const row of [1, 2, 3]) file.add(row);
  ends[0]?.reject(new Error('no room'));
  await expect(file.written()).rejects.toThrow('no room');
  file.add(4);
  expect(batches).toEqual([[1, 2]]);
});

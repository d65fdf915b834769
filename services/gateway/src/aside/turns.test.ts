import { expect, test } from 'vitest';
import { createTurns } from './turns.js';

/** Tasks that end on command of the test, and record their start. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { begun, work, end };
}

test('a tenant with many tasks runs one at a time, and other tenants get their turn in between', async () => {
  const { begun, work, end } = createWork();
  const turns = createTurns(2, 10);
  const ended = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => turns.take(name[0] ?? '', work(name)));
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  await end('b1');
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  for (const name of ['c1', 'a2', 'a3']) await end(name);
  expect(await Promise.all(ended)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
});

test('a task that fails frees its slot for the next one', async () => {
  const turns = createTurns(1, 10);
  const failing = turns.take('a', () => Promise.reject(new Error('broken')));
  const next = turns.take('b', async () => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
});

test('a tenant with too many waiting tasks is refused with OVERLOADED', async () => {
  const { work, end } = createWork();
  const turns = createTurns(1, 2);
  const taken = ['a1', 'a2', 'a3'].map((name) => turns.take('a', work(name)));
  expect(() => turns.take('a', work('a4'))).toThrow(expect.objectContaining({ kind: 'OVERLOADED' }));
  for (const name of ['a1', 'a2', 'a3']) await end(name);
  await Promise.all(taken);
});

import { expect, test } from 'vitest';
import { Kept } from './kept.js';

test('those used last are kept, as many as weigh no more than is allowed', async () => {
  const kept = new Kept<string>(10, (text) => text.length);
  for (const text of ['aaaa', 'bbbb']) await kept.get(text, () => text);
  await kept.get('aaaa', () => 'never made again');
  await kept.get('cccc', () => 'cccc');
  expect(['aaaa', 'bbbb', 'cccc'].map((key) => kept.peek(key))).toEqual(['aaaa', undefined, 'cccc']);
  kept.forget('aaaa');
  await kept.get('dddd', () => 'dddd');
  expect(['cccc', 'dddd'].map((key) => kept.peek(key))).toEqual(['cccc', 'dddd']);
});

test('one that weighs too much is kept until the next comes', async () => {
  const kept = new Kept<string>(3, (text) => text.length);
  expect(await kept.get('large', () => 'large')).toBe('large');
  expect(kept.peek('large')).toBe('large');
  await kept.get('s', () => 's');
  expect(kept.peek('large')).toBeUndefined();
});

import { expect, test } from 'vitest';
import { retryBackoff } from './retry-backoff.js';

const least = () => 0;
const most = () => 1;

test('the wait doubles with each try, up to a minute', () => {
  expect([1, 2, 3, 4, 8, 50, 1000].map((tries) => retryBackoff(tries, most))).toEqual([
    500, 1000, 2000, 4000, 60_000, 60_000, 60_000,
  ]);
});

test('half of the wait is random', () => {
  expect([1, 2, 8].map((tries) => retryBackoff(tries, least))).toEqual([250, 500, 30_000]);
  const waits = new Set(Array.from({ length: 50 }, () => retryBackoff(8)));
  expect(waits.size).toBeGreaterThan(10);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(30_000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
});

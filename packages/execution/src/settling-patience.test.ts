import { expect, test } from 'vitest';
import { settlingPatience } from './settler.js';

test('a result waits for half of its own duration while most calls are still running', () => {
  expect(settlingPatience(20, 1, 7)).toBe(10);
});

test('a result waits 25 ms at most, however long its call took', () => {
  expect(settlingPatience(60_000, 1, 7)).toBe(25);
});

test.each([
  { gathered: 1, running: 0 },
  { gathered: 1, running: 1 },
  { gathered: 4, running: 4 },
  { gathered: 5, running: 3 },
])('$gathered results are written at once while $running calls are running', ({ gathered, running }) => {
  expect(settlingPatience(60_000, gathered, running)).toBe(0);
});

import { describe, expect, test } from 'vitest';
import { median, percentile } from './statistics.js';

describe('percentile', () => {
  test('the 99th of a hundred values is the 99th smallest, in whatever order they came', () => {
    const shuffled = Array.from({ length: 100 }, (_, index) => ((index * 37) % 100) + 1);
    expect(percentile(shuffled, 0.99)).toBe(99);
  });

  test('a lone value is every percentile of itself', () => {
    expect([0, 0.5, 0.99, 1].map((fraction) => percentile([7], fraction))).toEqual([7, 7, 7, 7]);
  });

  test('numbers are ordered as numbers, not as text', () => {
    expect(percentile([9, 10, 100], 0.5)).toBe(10);
  });

  test('the values given stay in their order', () => {
    const values = [3, 1, 2];
    percentile(values, 0.5);
    expect(values).toEqual([3, 1, 2]);
  });

  test('no values have no percentile', () => {
    expect(() => percentile([], 0.5)).toThrow(RangeError);
  });
});

describe('median', () => {
  test('one slow round out of three does not move it', () => {
    expect(median([100, 101, 5])).toBe(100);
  });

  test('of two rounds it is the mean', () => {
    expect(median([100, 200])).toBe(150);
  });

  test('no rounds have no median', () => {
    expect(() => median([])).toThrow(RangeError);
  });
});

import { expect, test } from 'vitest';
import { matchesWildcard } from './wildcard.js';

test.each([
  ['*', '', true],
  ['cap:*', 'cap:x:y', true],
  ['cap:*:add', 'cap:test_math:add', true],
  ['cap:*:add', 'cap:test_math:adder', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['**a', 'bca', true],
  ['shell.run', 'shellxrun', false],
])('the pattern %s and %s: %s', (pattern, text, fits) => {
  expect(matchesWildcard(pattern, text)).toBe(fits);
});

test('a pattern made to be slow is not', () => {
  expect(matchesWildcard('*a'.repeat(100), 'a'.repeat(10_000).concat('b'))).toBe(false);
});

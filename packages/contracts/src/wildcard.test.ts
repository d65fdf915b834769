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
])('whether the pattern %s matches %s is %s', (pattern, text, fits) => {
  expect(matchesWildcard(pattern, text)).toBe(fits);
});

test('a pattern designed to be slow is matched quickly', () => {
  expect(matchesWildcard('*a'.repeat(100), 'a'.repeat(10_000).concat('b'))).toBe(false);
});

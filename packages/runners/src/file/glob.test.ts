import { expect, test } from 'vitest';
import { matchesGlob, matchesName } from './glob.js';

test.each([
  ['docs/**', 'docs/a/b.txt', true],
  ['./docs/**', 'docs/a.txt', true],
  ['docs/**', 'docsx/a.txt', false],
  ['docs/*', 'docs/a/b.txt', false],
  ['**/*.ts', 'a.ts', true],
  ['**/*.ts', 'x/y/a.ts', true],
  ['**/.env', '.env', true],
  ['**/.env', 'a/.env', true],
  ['**/.env', 'a/.envx', false],
  ['*.txt', 'deep/down/a.txt', false],
  ['./README.md', 'README.md', true],
  ['./README.md', 'deep/README.md', false],
  ['a?c', 'abc', true],
  ['src/{a,b}/*.js', 'src/b/x.js', true],
  ['src/{a,b}/*.js', 'src/c/x.js', false],
  ['[ab].txt', 'a.txt', true],
  ['[!ab].txt', 'a.txt', false],
  ['a.txt', 'abtxt', false],
  ['**', 'any/thing', true],
  ['/etc/**', '/etc/passwd', true],
  ['a+(b)', 'a+(b)', true],
  ['x/**/y', 'x/y', true],
  ['x/**/y', 'x/1/2/y', true],
])('%s and %s: %s', (glob, path, fits) => {
  expect(matchesGlob(glob, path)).toBe(fits);
});

test('a glob that would backtrack is matched quickly', () => {
  expect(matchesGlob(`${'*a'.repeat(50)}/b`, `${'a'.repeat(5000)}/c`)).toBe(false);
});

test('a search by name finds files in any folder', () => {
  expect(matchesName('*.txt', '/deep/down/a.txt')).toBe(true);
  expect(matchesName('/deep/*.txt', '/deep/down/a.txt')).toBe(false);
});

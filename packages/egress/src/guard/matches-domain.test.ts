import { expect, test } from 'vitest';
import { matchesDomain } from './matches-domain.js';

test.each([
  ['api.example.com', '*.example.com', true],
  ['example.com', '*.example.com', true],
  ['badexample.com', '*.example.com', false],
  ['example.com.evil.test', '*.example.com', false],
  ['EXAMPLE.com.', 'example.COM', true],
  ['api.example.com', 'example.com', false],
  ['bücher.example', 'xn--bcher-kva.example', true],
  ['anything.test', '*', true],
  ['[::1]', '::1', true],
])('whether %s matches the pattern %s is %s', (host, pattern, matches) => {
  expect(matchesDomain(host, pattern)).toBe(matches);
});

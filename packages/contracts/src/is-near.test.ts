import { expect, test } from 'vitest';
import { isNear } from './is-near.js';

test.each([
  ['get', 'gte'],
  ['args', 'argz'],
  ['page', 'pages'],
  ['ad', 'add'],
  ['current_time', 'curent_tmie'],
])('%s is near %s', (one, other) => {
  expect(isNear(one, other)).toBe(true);
});

test.each([
  ['get', 'put'],
  ['a', 'b'],
  ['ls', 'cp'],
  ['read', 'write'],
  ['inputs', 'outputs'],
])('%s is not near %s', (one, other) => {
  expect(isNear(one, other)).toBe(false);
});

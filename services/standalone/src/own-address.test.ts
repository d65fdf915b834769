import { expect, test } from 'vitest';
import { ownAddress } from './own-address.js';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:7311'],
  ['0.0.0.0', 'http://127.0.0.1:7311'],
  ['::', 'http://127.0.0.1:7311'],
  ['::1', 'http://[::1]:7311'],
  ['capstan.internal', 'http://capstan.internal:7311'],
])('links to a gateway that listens on %s start with %s', (host, url) => {
  expect(ownAddress({ host, port: 7311 })).toBe(url);
});

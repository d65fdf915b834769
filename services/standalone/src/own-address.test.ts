import { expect, test } from 'vitest';
import { commandFor, ownAddress } from './own-address.js';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:7311'],
  ['0.0.0.0', 'http://127.0.0.1:7311'],
  ['::', 'http://127.0.0.1:7311'],
  ['::1', 'http://[::1]:7311'],
  ['capstan.internal', 'http://capstan.internal:7311'],
])('links to a gateway that listens on %s start with %s', (host, url) => {
  expect(ownAddress({ host, port: 7311 })).toBe(url);
});

test.each([
  ['http://127.0.0.1:7070', 'npx capstan'],
  ['http://127.0.0.1:7071', 'CAPSTAN_URL=http://127.0.0.1:7071 npx capstan'],
])('the command suggested for a gateway at %s is %s', (url, command) => {
  expect(commandFor(url)).toBe(command);
});

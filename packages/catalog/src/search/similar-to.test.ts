import { expect, test } from 'vitest';
import { similarTo } from './similar-to.js';

const KNOWN = [
  'cap:math:add',
  'cap:math:abs',
  'cap:web_fetch:web_fetch',
  'file.read',
  'file.write',
  'shell.run',
  'http.get',
];

test.each([
  ['cap:math:ad', ['cap:math:add']],
  ['math.add', ['cap:math:add']],
  ['web-fetch', ['cap:web_fetch:web_fetch']],
  ['files.read', ['file.read']],
  ['read_file', ['file.read']],
  ['shell', ['shell.run']],
  ['Shel.rnu', ['shell.run']],
  ['httpget', ['http.get']],
])('%s may be meant to be %j', (typed, names) => {
  expect(similarTo(typed, KNOWN)).toEqual(names);
});

test.each(['cap', 'cap:mail:send', 'ext:acme:get', 'file.remove', 'a', '', ':', 'x '.repeat(90)])(
  '%j is near none of them',
  (typed) => {
    expect(similarTo(typed, KNOWN)).toEqual([]);
  },
);

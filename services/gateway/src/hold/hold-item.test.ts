import { expect, test } from 'vitest';
import { preview } from './hold-item.js';

test('a preview keeps small inputs as they are', () => {
  const inputs = { amount: 5, to: { name: 'Ann', tags: ['a', null, true] } };
  expect(preview(inputs)).toEqual(inputs);
});

test('a preview cuts long texts, long lists, many members and deep nesting', () => {
  const members = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`m${at}`, at]));
  const { text, list, many, deep } = preview({
    text: 'x'.repeat(1000),
    list: Array.from({ length: 1000 }, () => 1),
    many: members,
    deep: { a: { b: { c: { d: 'hidden' } } } },
  });
  expect(text).toBe(`${'x'.repeat(200)}…`);
  expect(list).toEqual([...Array.from({ length: 20 }, () => 1), '…']);
  expect(many).toMatchObject({ m19: 19, '…': 5 });
  expect(deep).toEqual({ a: { b: { c: '…' } } });
});

import { expect, test } from 'vitest';
import { readYaml } from './read-yaml.js';

test('a field is located by line and column, and a missing one by its parent', () => {
  const { value, errors, locate } = readYaml('name: x\nsteps:\n  - id: a\n    tool: b\n');
  expect({ value, errors }).toEqual({ value: { name: 'x', steps: [{ id: 'a', tool: 'b' }] }, errors: [] });
  expect(locate(['steps', 0], 'tool')).toEqual({ line: 4, column: 5 });
  expect(locate(['steps', 0, 'args'])).toEqual({ line: 3, column: 5 });
});

const keys = (count: number) => Array.from({ length: count }, (_, n) => `k${n}: 1`).join('\n');

test.each([
  [
    'an alias without an anchor',
    'a: &x 1\nb: *x\nc: [*y]',
    { line: 3, column: 5 },
    'there is no anchor &y before this',
  ],
  ['an alias within its own anchor', 'a: 1\nb: &x [*x]', { line: 2, column: 8 }, 'the anchor &x contains itself'],
  ['a second document', 'a: 1\n---\nb: 2\n', { line: 2, column: 1 }, 'a second document starts here'],
  ['a duplicate key', 'a: 1\nb: { c: 1, "c": 2 }', { line: 2, column: 12 }, 'duplicate key'],
  ['a line that is out of place', 'a:\n  - b: 1\n   c: 2\n', { line: 3, column: 1 }, 'Sequence item'],
])('%s is reported with its position', (_, text, place, message) => {
  expect(readYaml(text).errors[0]).toEqual({ ...place, message: expect.stringContaining(message) });
});

test.each([
  ['anchors', Array.from({ length: 20_000 }, (_, at) => `- &a${at} x\n- *a${at}\n`).join(''), /more than 1000 anchors/],
  ['aliases', `- &a x\n${'- *a\n'.repeat(20_000)}`, /more than 1000 anchors/],
  ['mistakes', ']'.repeat(1_000_000), /too many mistakes/],
  ['brackets', '['.repeat(1_000_000), /nested deeper/],
  ['lists', '- '.repeat(500_000), /nested deeper/],
  ['a long text', `a: ${'x'.repeat(2_000_000)}`, /longer than/],
  ['aliases of aliases', `a: &a [1,1,1]\nd: &d [${Array(200).fill('*a').join()}]`, /alias/i],
  ['many keys with a duplicate', `${keys(20_000)}\nk0: 2`, /duplicate key/],
])('%s that would block the process are refused at once', (_, text, message) => {
  const began = performance.now();
  expect(readYaml(text).errors).toEqual([expect.objectContaining({ message: expect.stringMatching(message) })]);
  expect(performance.now() - began).toBeLessThan(30_000);
});

test('a text that is refused for its nesting is reported with the position', () => {
  expect(readYaml(`a:\n  b: ${'['.repeat(200)}`).errors).toEqual([
    { line: 2, column: 103, message: 'is nested deeper than 100 levels' },
  ]);
  expect(readYaml(`${'- &a x\n'.repeat(2000)}`).errors).toMatchObject([{ line: 1001, column: 3 }]);
});

test('text in a scalar that looks like an anchor is not counted as one', () => {
  const bullets = `a: |\n${'  * item\n  & more\n'.repeat(2000)}b: "*x"\n`;
  expect(readYaml(bullets).errors).toEqual([]);
});

test('only the first hundred of many mistakes are reported', () => {
  // As many as no call takes arguments.
  expect(readYaml(`{${'k,'.repeat(125_000)}}`).errors).toHaveLength(100);
});

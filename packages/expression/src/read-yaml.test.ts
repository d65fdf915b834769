import { expect, test } from 'vitest';
import { readYaml } from './read-yaml.js';

test('a field is found by line and column, a missing one by its parent', () => {
  const { value, errors, locate } = readYaml('name: x\nsteps:\n  - id: a\n    tool: b\n');
  expect({ value, errors }).toEqual({ value: { name: 'x', steps: [{ id: 'a', tool: 'b' }] }, errors: [] });
  expect(locate(['steps', 0], 'tool')).toEqual({ line: 4, column: 5 });
  expect(locate(['steps', 0, 'args'])).toEqual({ line: 3, column: 5 });
});

test.each([
  ['brackets', '['.repeat(1_000_000), /nested deeper/],
  ['lists', '- '.repeat(500_000), /nested deeper/],
  ['a long text', `a: ${'x'.repeat(2_000_000)}`, /longer than/],
  ['aliases of aliases', `a: &a [1,1,1]\nd: &d [${Array(200).fill('*a').join()}]`, /alias/i],
])('%s that would take the process away are refused at once', (_, text, message) => {
  const began = performance.now();
  expect(readYaml(text).errors).toEqual([{ message: expect.stringMatching(message) }]);
  expect(performance.now() - began).toBeLessThan(5000);
});

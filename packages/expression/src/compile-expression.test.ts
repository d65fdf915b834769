import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileExpression, MAX_SOURCE } from './compile-expression.js';

const inputs = { amount: 250, n: 3.5, i: 3, list: [1, 2, 3], text: 'abc', deep: { a: { b: 1 } } };
const compiled = (source: string, variables = ['inputs', 'steps']) => {
  const result = compileExpression(source, variables);
  if (!result.ok) throw new Error(result.error.message);
  return result.expression;
};
const evaluate = (source: string, context: Record<string, unknown> = { inputs }) => compiled(source).evaluate(context);

describe('arithmetic with JSON numbers', () => {
  test.each([
    ['inputs.amount > 100.0', true],
    ['inputs.amount > 100', true],
    ['inputs.n > 3', true],
    ['inputs.i == 3', true],
    ['inputs.i == 3.0', true],
    ['inputs.i + 1', 4],
    ['1 + inputs.i', 4],
    ['inputs.i - 0.5', 2.5],
    ['inputs.i * 2', 6],
    ['inputs.i / 2', 1.5],
    ['inputs.i % 2 == 1', true],
    ['7 / 2', 3],
    ['inputs.list[inputs.i - 1]', 3],
    ['2 in inputs.list', true],
    ['size(inputs.list) == inputs.i', true],
    ['inputs.list.map(x, x * 2)', [2, 4, 6]],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual({ ok: true, value });
  });
});

describe('the result of an expression is JSON', () => {
  test.each([
    ['{"a": inputs.i, "b": [1, 2.5, "c"]}', { a: 3, b: [1, 2.5, 'c'] }],
    ['timestamp("2026-01-01T00:00:00Z")', '2026-01-01T00:00:00.000Z'],
    ['duration("90s")', '90s'],
    ['inputs.?missing', null],
    ['inputs.?missing.orValue("d")', 'd'],
    ['5u', 5],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual({ ok: true, value });
  });
  test('an int that is too large for a JSON number is an error', () => {
    expect(evaluate('9223372036854775807').ok).toBe(false);
  });
});

describe('an error has a message and a position', () => {
  test.each([
    ['inputs.amount >', 'it ends too early: a value is missing', 1, 16],
    ['(inputs.a', 'it ends too early: ")" is missing', 1, 10],
    ['inputs.a > > 1', '">" is not expected here: a value is missing', 1, 12],
    ['inputs.a and inputs.b', '"and" is not expected here', 1, 10],
    ['inputs.a &&\n  other.b', 'there is no variable other', 2, 3],
    ['"a" + 1', 'these types do not go together: string + int', 1, 1],
  ])('%j does not compile', (source, message, line, column) => {
    expect(compileExpression(source, ['inputs'])).toMatchObject({ ok: false, error: { message, line, column } });
  });
  test('a missing key gives an outcome with an error', () => {
    expect(evaluate('inputs.missing.x > 1')).toMatchObject({
      ok: false,
      error: { message: 'there is no field missing' },
    });
    expect(evaluate('has(inputs.missing)')).toEqual({ ok: true, value: false });
  });
  test('members that JavaScript adds to objects are not visible', () => {
    expect(evaluate('inputs.constructor').ok).toBe(false);
    expect(evaluate('inputs.__proto__').ok).toBe(false);
  });
  test('an expression that is too long or too deep does not compile', () => {
    expect(compileExpression(`1${' + 1'.repeat(MAX_SOURCE)}`, []).ok).toBe(false);
    expect(compileExpression('('.repeat(500) + 1 + ')'.repeat(500), []).ok).toBe(false);
    expect(compileExpression('cel.bind(x, "a", x + x)', []).ok).toBe(false);
  });
});

describe('evaluation is bounded', () => {
  const large = { inputs: { list: Array.from({ length: 30_000 }, (_, at) => at), text: 'a'.repeat(50_000) } };
  const heavy = [
    'inputs.list.exists(x, inputs.list.exists(y, y < 0))',
    'inputs.list.exists(x, !(x in inputs.list))',
    'inputs.list.all(x, inputs.list.all(y, y >= 0)) || true',
    '[0].map(a, inputs.list + inputs.list).map(b, b + b).map(c, c + c).map(d, d + d)',
    `[inputs.text]${'.map(x, x + x)'.repeat(60)}`,
  ];
  test.each(heavy.map((source) => [source.slice(0, 60), source]))('%s is stopped as too much work', (_, source) => {
    expect(evaluate(source, large)).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/^too much work/) },
    });
  });
  test('an evaluation that was stopped does not affect the next one', () => {
    const expression = compiled('inputs.list.exists(x, inputs.list.exists(y, y < 0))');
    expect(expression.evaluate(large).ok).toBe(false);
    expect(expression.evaluate({ inputs })).toEqual({ ok: true, value: false });
  });
  test('a regular expression cannot make evaluation slow', () => {
    expect(evaluate('inputs.text.matches("^(a+)+$b")', large)).toEqual({ ok: true, value: false });
    expect(evaluate('inputs.text.matches("^[a-c]+$")')).toEqual({ ok: true, value: true });
    expect(evaluate('inputs.text.matches("(")').ok).toBe(false);
    expect(evaluate('inputs.i.matches("a")').ok).toBe(false);
  });
});

describe('references', () => {
  test.each([
    ['inputs.a + steps.page.output.items[0].id', ['inputs.a', 'steps.page.output.items.0.id']],
    ['steps["my-step"].output', ['steps.my-step.output']],
    ['inputs.list.exists(x, x.a == steps.b.output)', ['inputs.list', 'steps.b.output']],
    ['inputs.list.map(steps, steps.a)', ['inputs.list']],
    ['steps[inputs.name].output', ['steps', 'inputs.name']],
    ['size(steps.a.outputs) > 0 ? inputs.x : [inputs.y][0]', ['steps.a.outputs', 'inputs.x', 'inputs.y']],
    ['has(steps.a.output)', ['steps.a.output?']],
    ['steps.?a.output', ['steps.a.output?']],
    ['1 + 1', []],
  ])('%s', (source, expected) => {
    const { references } = compiled(source);
    expect(references.map(({ path, optional }) => `${path.join('.')}${optional ? '?' : ''}`)).toEqual(expected);
  });
});

test('no source and no context makes compiling or evaluating throw', () => {
  const word = fc.constantFrom(
    'inputs',
    '.a',
    '[0]',
    ' + ',
    ' > ',
    '(',
    ')',
    '.exists(x, ',
    '"s"',
    '1',
    '1.5',
    ' && ',
    '?',
    ':',
  );
  const source = fc.oneof(
    fc.string(),
    fc.array(word, { maxLength: 12 }).map((words) => words.join('')),
  );
  fc.assert(
    fc.property(source, fc.jsonValue(), (text, value) => {
      const result = compileExpression(text, ['inputs']);
      if (result.ok) result.expression.evaluate({ inputs: value });
    }),
    { numRuns: 1500 },
  );
});

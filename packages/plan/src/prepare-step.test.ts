import type { Json, JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { compilePlan } from './compile-plan.js';
import { type EndedStep, type Prepared, prepareStep } from './prepare-step.js';
import { previewStep } from './preview-step.js';

/** Prepares the second step of a plan, after a first step `a` that ended as given. */
function prepare(
  step: object,
  a: EndedStep = { status: 'succeeded', output: { n: 2, list: [1, 2], text: 'x' } },
  element: { item: Json; index: number } | null = null,
): Prepared {
  const first = { id: 'a', tool: 'x', ...(a.outputs ? { for_each: [1] } : {}) };
  const plan = compilePlan({ inputs: { who: { default: 'me' } }, steps: [first, { tool: 'x', ...step }] });
  const last = plan.steps[1];
  if (!last) throw new Error('it has two steps');
  return prepareStep(last, { inputs: { who: 'me' }, steps: { a }, ended: () => a }, element);
}
const inputsOf = (args: JsonObject, ended?: EndedStep) => {
  const prepared = prepare({ args }, ended);
  return prepared.kind === 'call' ? prepared.inputs : prepared;
};

describe('in the inputs of a step,', () => {
  test.each<[string, Json, Json]>([
    ['a single expression keeps its type', '${{ steps.a.output.n }}', 2],
    ['a single expression can give a list', '${{ steps.a.output.list }}', [1, 2]],
    ['a single expression can give null', '${{ null }}', null],
    ['an expression within text becomes text', 'n is ${{ steps.a.output.n }}!', 'n is 2!'],
    ['a list within text becomes JSON', '${{ steps.a.output.list }} ', '[1,2] '],
    ['braces in an expression do not close it', '${{ {"a": {"b": 1}}.a.b }}', 1],
    ['braces in a string literal do not close the expression', '${{ "}}" }}', '}}'],
    ['two dollars escape an expression', '$${{ steps.a.output.n }}', '${{ steps.a.output.n }}'],
    ['nested expressions are filled in', { x: [1, { y: '${{ inputs.who }}' }] }, { x: [1, { y: 'me' }] }],
    ['null in a list stays null', ['${{ null }}', 1], [null, 1]],
    ['a value without an expression is unchanged', { x: '{{ no }} $x' }, { x: '{{ no }} $x' }],
  ])('%s', (_what, value, expected) => {
    expect(inputsOf({ value })).toEqual({ value: expected });
  });

  test('an expression that cannot be evaluated fails the step and is named in the reason', () => {
    expect(inputsOf({ x: '${{ steps.a.output.missing }}' })).toMatchObject({
      kind: 'fail',
      reason: expect.stringContaining('steps.a.output.missing'),
    });
  });
});

describe('a step', () => {
  test.each<[string | boolean, Prepared['kind']]>([
    [true, 'call'],
    [false, 'skip'],
    ['${{ steps.a.output.n == 2 }}', 'call'],
    ['steps.a.output.n > 2', 'skip'],
    ['steps.a.output.n', 'fail'],
    ['steps.a.output.missing == 1', 'fail'],
    ['has(steps.a.output.missing)', 'skip'],
  ])('with `when: %s` gets the outcome %s', (when, kind) => {
    expect(prepare({ when }).kind).toBe(kind);
  });

  test('that reads the output of a skipped step is skipped', () => {
    const skipped: EndedStep = { status: 'skipped', output: null };
    expect(prepare({ args: { x: '${{ steps.a.output.n }}' } }, skipped)).toEqual({
      kind: 'skip',
      reason: 'a was skipped',
    });
    expect(prepare({ when: 'steps.a.output.n == 1' }, skipped).kind).toBe('skip');
    expect(prepare({ args: { x: '${{ steps.a.status }}' } }, skipped)).toEqual({
      kind: 'call',
      inputs: { x: 'skipped' },
    });
  });
});

describe('a fan-out', () => {
  test('takes a list from the plan or from an expression', () => {
    expect(prepare({ for_each: [1, 2] })).toEqual({ kind: 'fan_out', items: [1, 2] });
    expect(prepare({ for_each: '${{ steps.a.output.list }}' })).toEqual({ kind: 'fan_out', items: [1, 2] });
    expect(prepare({ for_each: 'steps.a.outputs' }, { status: 'succeeded', outputs: ['x'] })).toEqual({
      kind: 'fan_out',
      items: ['x'],
    });
    expect(prepare({ for_each: 'steps.a.output.n' })).toMatchObject({ kind: 'fail' });
  });

  test('evaluates `when` once, or for each element if it uses the element', () => {
    const element = { item: 1, index: 0 };
    expect(prepare({ for_each: [1], when: 'false' }).kind).toBe('skip');
    expect(prepare({ for_each: [1], when: 'item > 1' }).kind).toBe('fan_out');
    expect(prepare({ for_each: [1], when: 'item > 1' }, undefined, element).kind).toBe('skip');
    expect(prepare({ for_each: [1], args: { x: '${{ item }}', at: '${{ index }}' } }, undefined, element)).toEqual({
      kind: 'call',
      inputs: { x: 1, at: 0 },
    });
  });
});

test('a preview shows known values, and expressions for unknown ones', () => {
  const { steps } = compilePlan({
    inputs: { n: { default: [1, 2] } },
    steps: [
      { id: 'a', tool: 'x', for_each: 'inputs.n', args: { v: '${{ item }}' } },
      { tool: 'x', args: { v: '${{ size(steps.a.outputs) }}', w: 1 } },
      { tool: 'x', when: 'inputs.n[0] == 2' },
      { tool: 'x', when: 'size(steps.a.outputs) == 2', args: { w: 2 } },
    ],
  });
  const shown = steps.flatMap((one) => previewStep(one, { n: [1, 2] }, 10).calls);
  expect(shown).toMatchObject([
    { kind: 'call', element: 0, inputs: { v: 1 }, unknown: [] },
    { kind: 'call', element: 1, inputs: { v: 2 } },
    { kind: 'call', inputs: { v: '${{ size(steps.a.outputs) }}', w: 1 }, unknown: ['size(steps.a.outputs)'] },
    { kind: 'skip' },
    { kind: 'call', inputs: { w: 2 }, unknown: [], condition: 'size(steps.a.outputs) == 2' },
  ]);
  const [first] = steps;
  expect(first && previewStep(first, { n: [1, 2, 3] }, 2)).toMatchObject({ calls: [{}, {}], left_out: 1 });
  expect(first && previewStep(first, { n: [] }, 2).calls).toEqual([
    { kind: 'skip', element: null, reason: 'the list is empty' },
  ]);
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Failure, type JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { compilePlan } from './compile-plan.js';
import { PlanFailure } from './plan-error.js';

const step = (more: object = {}) => ({ tool: 'a:b:c', ...more });
const needs = (plan: unknown) => compilePlan(plan).steps.map((one) => one.needs);

/** Compiles a plan that has mistakes and returns the first one, and all of them. */
function mistake(plan: unknown): {
  detail: string;
  suggestion: string;
  errors: { field: string; line?: number; column?: number }[];
} {
  try {
    compilePlan(plan);
  } catch (error) {
    if (error instanceof Failure && Array.isArray(error.context.errors))
      return { detail: error.message, suggestion: error.suggestion, errors: error.context.errors };
    throw error;
  }
  throw new Error('the plan was taken');
}

describe('the steps of a plan', () => {
  test('run in order if none has needs', () => {
    expect(needs({ steps: [step(), step(), step()] })).toEqual([[], [0], [1]]);
  });

  test('run after their needs, or after the previous step if they have none', () => {
    const steps = [step({ id: 'a' }), step({ id: 'b', needs: [] }), step({ id: 'c', needs: ['a', 'b'] }), step()];
    expect(needs({ steps })).toEqual([[], [], [0, 1], [2]]);
    expect(compilePlan({ steps }).steps.map((one) => one.dependents)).toEqual([[2], [2], [3], []]);
  });

  test('may need a step that comes later in the plan', () => {
    expect(needs({ steps: [step({ id: 'last', needs: ['first'] }), step({ id: 'first', needs: [] })] })).toEqual([
      [1],
      [],
    ]);
  });

  test('get default ids, and may use the tool names of Capsule', () => {
    const { steps } = compilePlan({ steps: [step(), { tool: 'fs_read' }, { tool: 'http.get' }] });
    expect(steps.map(({ id, tool_id }) => [id, tool_id])).toEqual([
      ['step_1', 'a:b:c'],
      ['step_2', 'fs.read'],
      ['step_3', 'http.get'],
    ]);
  });

  test('compile when a thousand of them read the output of the first', () => {
    const steps = Array.from({ length: 1000 }, (_, n) =>
      step({ id: `s${n}`, ...(n > 0 ? { args: { a: '${{ steps.s0.output.x }}' } } : {}) }),
    );
    expect(compilePlan({ steps }).steps[999]?.reads.args).toEqual([{ step: 0, output: true, optional: false }]);
  });

  test('have the same hash in YAML and in JSON', () => {
    const yaml = 'steps:\n  - tool: a:b:c\n    args: { n: 1 }\n';
    expect(compilePlan(yaml).plan_hash).toBe(compilePlan({ steps: [step({ args: { n: 1 } })] }).plan_hash);
  });
});

describe('a plan is refused with a position and a suggestion', () => {
  test.each([
    [
      'an unknown field',
      'steps:\n  - tool: x\n    argz: {}\n',
      'line 3, column 5: steps.0.argz: is not a known field',
      'Did you mean args?',
    ],
    [
      'a version without quotes',
      'version: 1.0\nsteps: [{tool: x}]\n',
      'line 1, column 10: version: expected "1.0"',
      'Write version: "1.0", with the quotes.',
    ],
    ['broken YAML', 'steps: [\n', 'line 2, column 1: the plan:', ''],
    ['nothing at all', '# later\n', 'the plan: is empty', 'Add steps to the plan.'],
    [
      'an unknown need',
      'steps:\n  - {id: page, tool: x}\n  - {tool: x, needs: [pag]}\n',
      'line 3, column 23: steps.1.needs.0: there is no step pag',
      'Did you mean page?',
    ],
    ['a step that needs itself', 'steps:\n  - {id: a, tool: x, needs: a}\n', 'steps.0.needs: a needs itself', ''],
    [
      'a cycle',
      'steps:\n  - {id: a, tool: x, needs: b}\n  - {id: b, tool: x, needs: a}\n',
      'the steps wait for each other: a → b → a',
      '',
    ],
    [
      'a duplicate id',
      'steps:\n  - {id: a, tool: x}\n  - {id: a, tool: x}\n',
      'line 3, column 10: steps.1.id: a is already the id of steps.0',
      '',
    ],
    [
      'an unknown step',
      'steps:\n  - {id: page, tool: x}\n  - {tool: x, args: {a: "${{ steps.pages.output }}"}}\n',
      'there is no step pages',
      'Did you mean page?',
    ],
    [
      'a reference to a step that may not have ended',
      'steps:\n  - {id: a, tool: x}\n  - {tool: x, needs: [], when: steps.a.output.ok}\n',
      'a does not end before this step starts',
      'Add a to the needs of this step.',
    ],
    [
      'an unknown input',
      'inputs: {repo: {}}\nsteps:\n  - {tool: x, args: {a: "${{ inputs.rep }}"}}\n',
      'the plan has no input rep',
      'Did you mean repo?',
    ],
    [
      'an unknown property of a step',
      'steps:\n  - {id: a, tool: x}\n  - {tool: x, args: {a: "${{ steps.a.outptu }}"}}\n',
      'a step has only output, outputs and status',
      'Did you mean output?',
    ],
    [
      'the output of a fan-out',
      'steps:\n  - {id: a, tool: x, for_each: [1]}\n  - {tool: x, args: {a: "${{ steps.a.output }}"}}\n',
      'a has a for_each',
      'Write steps.a.outputs, a list.',
    ],
    ['item without for_each', 'steps:\n  - {tool: x, args: {a: "${{ item }}"}}\n', 'steps.0.args.a: ${{ item }}', ''],
    [
      'invalid CEL',
      'steps:\n  - {tool: x, args: {a: "${{ 1 + }}"}}\n',
      'line 2, column 25: steps.0.args.a: ${{ 1 + }}',
      '',
    ],
    ['an unclosed expression', 'steps:\n  - {tool: x, args: {a: "${{ 1 "}}\n', 'a ${{ has no }}', ''],
    [
      'a computed step name',
      'inputs: {n: {}}\nsteps:\n  - {tool: x}\n  - {tool: x, args: {a: "${{ steps[inputs.n].output }}"}}\n',
      'a step must be referenced by its name',
      'Use the name of the step instead of an expression.',
    ],
    [
      'a default of the wrong type',
      'inputs: {n: {type: integer, default: x}}\nsteps: [{tool: x}]\n',
      'line 1, column 38: inputs.n.default',
      '',
    ],
    ['no steps', 'steps: []\n', 'steps', ''],
    ['a for_each that is not a list', 'steps:\n  - {tool: x, for_each: 5}\n', 'expected an expression or a list', ''],
    [
      'a hyphen in a name',
      'steps:\n  - {id: my-step, tool: x}\n  - {tool: x, args: {a: "${{ steps.my-step.output }}"}}\n',
      'steps.1.args.a',
      "Write steps['my-step'], because the name has a hyphen.",
    ],
  ])('for %s', (_what, plan, detail, suggestion) => {
    const told = mistake(plan);
    expect(told.detail).toContain(detail);
    if (suggestion) expect(told.suggestion).toBe(suggestion);
  });

  test('for all mistakes at once', () => {
    const { errors } = mistake({ steps: [step({ needs: ['x'] }), step({ when: '${{ steps.y.status == 1 }}' })] });
    expect(errors.map(({ field }) => field)).toEqual(['steps.0.needs.0', 'steps.1.when']);
  });

  test('with the mistakes in document order', () => {
    const { errors } = mistake(
      'steps:\n  - tool: x\n    args:\n      a: "${{ steps.y.output }}"\n      b: "${{ 1 + }}"\n',
    );
    expect(errors.map(({ line }) => line)).toEqual([4, 5]);
  });

  test('with one error for an expression that does not compile, and none about its type', () => {
    const wrong = () => [{ field: 'inputs.a', message: 'must be a number, not a string' }];
    const errorsOf = (args: JsonObject) => {
      try {
        compilePlan({ steps: [step({ args })] }, undefined, wrong);
        return [];
      } catch (error) {
        return error instanceof PlanFailure ? error.errors.map(({ message }) => message) : [error];
      }
    };
    expect(errorsOf({ a: '${{ 1 + }}' })).toEqual([expect.stringContaining('${{ 1 + }}')]);
    expect(errorsOf({ a: '${{ 1 + ' })).toEqual(['a ${{ has no }}']);
    expect(errorsOf({ a: 'one' })).toEqual(['must be a number, not a string']);
  });

  test('for an unknown tool', () => {
    const missing = (tool_id: string) => (tool_id === 'a:b:c' ? undefined : { similar: ['a:b:c'] });
    expect(() => compilePlan({ steps: [step()] }, missing)).not.toThrow();
    expect(() => compilePlan({ steps: [{ tool: 'a:b:d' }] }, missing)).toThrow('there is no tool a:b:d');
  });

  test('for inputs that do not match the tool, if their values are known', () => {
    const wrong = (_: string, { b }: object & { b?: unknown }) =>
      b === undefined ? [{ field: 'inputs.b', message: 'is required' }] : [];
    const compile = (args: string) => compilePlan(`steps:\n  - tool: x\n    args: ${args}\n`, undefined, wrong);
    expect(() => compile('{a: 1}')).toThrow('line 3, column 11: steps.0.args.b: is required');
    expect(() => compile('{b: 1}')).not.toThrow();
    // The value of an expression is not known yet.
    expect(() => compile('{a: "${{ 1 + 1 }}"}')).not.toThrow();
  });

  test('for YAML aliases that expand to a huge document', () => {
    const bomb = `a: &a [1,1,1,1,1,1,1,1,1]\n${'bcdefgh'
      .split('')
      .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]\n`)
      .join('')}steps: []\n`;
    expect(() => compilePlan(bomb)).toThrow(Failure);
  });
});

describe('the inputs of a plan', () => {
  const plan = compilePlan({
    inputs: {
      repo: { type: 'string' },
      depth: { type: 'integer', default: 3, minimum: 1 },
      tags: { type: 'array', items: { type: 'string' }, required: false },
    },
    steps: [step()],
  });

  test('are filled in with their defaults', () => {
    expect(plan.inputs.fill({ repo: 'x' })).toEqual({ repo: 'x', depth: 3, tags: null });
  });

  test.each([
    [{}, 'inputs.repo is missing'],
    [{ repo: 5 }, 'inputs.repo'],
    [{ repo: 'x', depth: 0 }, 'inputs.depth'],
    [{ repo: 'x', tags: [1] }, 'inputs.tags'],
    [{ repo: 'x', dept: 2 }, 'inputs.dept is not an input of this plan'],
  ])('%j are refused', (given, detail) => {
    expect(() => plan.inputs.fill(given)).toThrow(detail);
  });
});

const CAPSULE = new URL('../../../../shared/corpora/capsule/plans/', import.meta.url);

describe.skipIf(!existsSync(CAPSULE))("Capsule's own plans (the corpora are beside the repository)", () => {
  test.each(existsSync(CAPSULE) ? readdirSync(CAPSULE) : [])('%s loads unchanged', (name) => {
    const plan = compilePlan(readFileSync(new URL(name, CAPSULE), 'utf8'));
    expect(plan.name).not.toBeNull();
    expect(plan.steps.map((one) => one.needs)).toEqual(plan.steps.map((_, index) => (index === 0 ? [] : [index - 1])));
  });
});

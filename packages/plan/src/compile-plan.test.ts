import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Failure, type JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { compilePlan } from './compile-plan.js';
import { PlanFailure } from './plan-error.js';

const step = (more: object = {}) => ({ tool: 'a:b:c', ...more });
const needs = (plan: unknown) => compilePlan(plan).steps.map((one) => one.needs);

/** What is wrong with a plan: the first error, and the whole of it. */
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
  test('run in order when none has needs', () => {
    expect(needs({ steps: [step(), step(), step()] })).toEqual([[], [0], [1]]);
  });

  test('run as their needs say, and otherwise after the one before', () => {
    const steps = [step({ id: 'a' }), step({ id: 'b', needs: [] }), step({ id: 'c', needs: ['a', 'b'] }), step()];
    expect(needs({ steps })).toEqual([[], [], [0, 1], [2]]);
    expect(compilePlan({ steps }).steps.map((one) => one.dependents)).toEqual([[2], [2], [3], []]);
  });

  test('may need one that is written later', () => {
    expect(needs({ steps: [step({ id: 'last', needs: ['first'] }), step({ id: 'first', needs: [] })] })).toEqual([
      [1],
      [],
    ]);
  });

  test('have names when they are given none, and tools under the names of Capsule', () => {
    const { steps } = compilePlan({ steps: [step(), { tool: 'fs_read' }, { tool: 'http.get' }] });
    expect(steps.map(({ id, tool_id }) => [id, tool_id])).toEqual([
      ['step_1', 'a:b:c'],
      ['step_2', 'fs.read'],
      ['step_3', 'http.get'],
    ]);
  });

  test('of a thousand that each take the output of the first are compiled', () => {
    const steps = Array.from({ length: 1000 }, (_, n) =>
      step({ id: `s${n}`, ...(n > 0 ? { args: { a: '${{ steps.s0.output.x }}' } } : {}) }),
    );
    expect(compilePlan({ steps }).steps[999]?.reads.args).toEqual([{ step: 0, output: true, optional: false }]);
  });

  test('have the same hash as YAML and as JSON', () => {
    const yaml = 'steps:\n  - tool: a:b:c\n    args: { n: 1 }\n';
    expect(compilePlan(yaml).plan_hash).toBe(compilePlan({ steps: [step({ args: { n: 1 } })] }).plan_hash);
  });
});

describe('what makes no sense is named, with its place and what to do', () => {
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
    ['nothing at all', '# later\n', 'the plan: is empty', 'Write its steps.'],
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
      'an id that is there twice',
      'steps:\n  - {id: a, tool: x}\n  - {id: a, tool: x}\n',
      'line 3, column 10: steps.1.id: a is the id of steps.0 already',
      '',
    ],
    [
      'an unknown step',
      'steps:\n  - {id: page, tool: x}\n  - {tool: x, args: {a: "${{ steps.pages.output }}"}}\n',
      'there is no step pages',
      'Did you mean page?',
    ],
    [
      'a step that has not ended',
      'steps:\n  - {id: a, tool: x}\n  - {tool: x, needs: [], when: steps.a.output.ok}\n',
      'a does not end before this step starts',
      'Add a to its needs.',
    ],
    [
      'an unknown input',
      'inputs: {repo: {}}\nsteps:\n  - {tool: x, args: {a: "${{ inputs.rep }}"}}\n',
      'the plan has no input rep',
      'Did you mean repo?',
    ],
    [
      'an unknown part of a step',
      'steps:\n  - {id: a, tool: x}\n  - {tool: x, args: {a: "${{ steps.a.outptu }}"}}\n',
      'a step has output, outputs and status',
      'Did you mean output?',
    ],
    [
      'the output of a fan-out',
      'steps:\n  - {id: a, tool: x, for_each: [1]}\n  - {tool: x, args: {a: "${{ steps.a.output }}"}}\n',
      'a is fanned out',
      'Write steps.a.outputs, a list.',
    ],
    ['item without for_each', 'steps:\n  - {tool: x, args: {a: "${{ item }}"}}\n', 'steps.0.args.a: ${{ item }}', ''],
    ['no CEL', 'steps:\n  - {tool: x, args: {a: "${{ 1 + }}"}}\n', 'line 2, column 25: steps.0.args.a: ${{ 1 + }}', ''],
    ['an expression without end', 'steps:\n  - {tool: x, args: {a: "${{ 1 "}}\n', 'a ${{ has no }}', ''],
    [
      'a name that is computed',
      'inputs: {n: {}}\nsteps:\n  - {tool: x}\n  - {tool: x, args: {a: "${{ steps[inputs.n].output }}"}}\n',
      'steps are taken by their names',
      'Write the name out.',
    ],
    [
      'a default of another type',
      'inputs: {n: {type: integer, default: x}}\nsteps: [{tool: x}]\n',
      'line 1, column 38: inputs.n.default',
      '',
    ],
    ['no steps', 'steps: []\n', 'steps', ''],
    ['a list that is none', 'steps:\n  - {tool: x, for_each: 5}\n', 'expected an expression or a list', ''],
    [
      'a hyphen in a name',
      'steps:\n  - {id: my-step, tool: x}\n  - {tool: x, args: {a: "${{ steps.my-step.output }}"}}\n',
      'steps.1.args.a',
      "A name with a hyphen is written steps['my-step'].",
    ],
  ])('%s', (_what, plan, detail, suggestion) => {
    const told = mistake(plan);
    expect(told.detail).toContain(detail);
    if (suggestion) expect(told.suggestion).toBe(suggestion);
  });

  test('all of it at once', () => {
    const { errors } = mistake({ steps: [step({ needs: ['x'] }), step({ when: '${{ steps.y.status == 1 }}' })] });
    expect(errors.map(({ field }) => field)).toEqual(['steps.0.needs.0', 'steps.1.when']);
  });

  test('in the order in which it stands there', () => {
    const { errors } = mistake(
      'steps:\n  - tool: x\n    args:\n      a: "${{ steps.y.output }}"\n      b: "${{ 1 + }}"\n',
    );
    expect(errors.map(({ line }) => line)).toEqual([4, 5]);
  });

  test('an expression that does not compile is told once, and not to be of the wrong type as well', () => {
    const wrong = () => [{ field: 'inputs.a', message: 'must be number' }];
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
    expect(errorsOf({ a: 'one' })).toEqual(['must be number']);
  });

  test('tools that there are not', () => {
    const missing = (tool_id: string) => (tool_id === 'a:b:c' ? undefined : { similar: ['a:b:c'] });
    expect(() => compilePlan({ steps: [step()] }, missing)).not.toThrow();
    expect(() => compilePlan({ steps: [{ tool: 'a:b:d' }] }, missing)).toThrow('there is no tool a:b:d');
  });

  test('inputs that a tool does not take, where they are known', () => {
    const wrong = (_: string, { b }: object & { b?: unknown }) =>
      b === undefined ? [{ field: 'inputs.b', message: 'is required' }] : [];
    const compile = (args: string) => compilePlan(`steps:\n  - tool: x\n    args: ${args}\n`, undefined, wrong);
    expect(() => compile('{a: 1}')).toThrow('line 3, column 11: steps.0.args.b: is required');
    expect(() => compile('{b: 1}')).not.toThrow();
    // What it will be is not known yet.
    expect(() => compile('{a: "${{ 1 + 1 }}"}')).not.toThrow();
  });

  test('a few aliases that would become huge', () => {
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
    [{ repo: 'x', dept: 2 }, 'inputs.dept is no input of this plan'],
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

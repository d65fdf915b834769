import { compilePlan } from '@capstan/plan';
import type { RecordedStep } from '@capstan/store/record';
import { expect, test } from 'vitest';
import { carryOver, findBlocked } from './carry-over.js';

const step = (id: string, needs: string[], more = {}) => ({ id, tool: 'x', needs, ...more });
const { steps: plan } = compilePlan({
  version: '1.0',
  steps: [
    step('first', []),
    step('each', [], { for_each: [1, 2, 3] }),
    step('loose', [], { on_error: 'continue' }),
    step('from', ['first']),
    step('last', ['from', 'each', 'loose']),
  ],
});
type Status = RecordedStep['status'];
/** For `each`: the step itself, then its elements. */
const recorded = (first: Status, each: Status[], loose: Status) =>
  new Map(
    [[first], each, [loose], ['failed' as const], ['skipped' as const]].map((statuses, index) => [
      index,
      statuses.map((status, at) => ({ step: index, element: at - 1, status })),
    ]),
  );
const FROM = 3;
const told = (of: ReturnType<typeof recorded>) =>
  carryOver(plan, FROM, of).map(({ step: at, element, status, reused }) => [at, element, status, reused]);

test('steps that do not depend on the replayed step keep their results, including failures that the plan tolerates', () => {
  expect(told(recorded('succeeded', ['succeeded', 'succeeded', 'succeeded', 'succeeded'], 'timed_out'))).toEqual([
    [0, -1, 'succeeded', true],
    [1, -1, 'succeeded', true],
    ...[0, 1, 2].map((element) => [1, element, 'succeeded', true]),
    [2, -1, 'timed_out', true],
    [3, -1, 'pending', false],
    [4, -1, 'pending', false],
  ]);
});

test('an incomplete fan-out continues with the elements that have no result, and skipped steps are decided again', () => {
  const of = recorded('succeeded', ['failed', 'succeeded', 'failed', 'skipped'], 'skipped');
  expect(told(of).slice(1)).toEqual([
    [1, -1, 'started', false],
    [1, 0, 'succeeded', true],
    [1, 1, 'pending', false],
    [1, 2, 'pending', false],
    [2, -1, 'pending', false],
    [3, -1, 'pending', false],
    [4, -1, 'pending', false],
  ]);
  expect(carryOver(plan, FROM, of)[1]).toMatchObject({ elements: 3, unended: 2, unsuccessful: 0 });
});

test('a step cannot be replayed if a step that it needs stopped the plan', () => {
  const each: Status[] = ['failed', 'failed'];
  expect(findBlocked(plan, FROM, recorded('failed', each, 'failed'))?.id).toBe('first');
  expect(findBlocked(plan, FROM, recorded('succeeded', each, 'failed'))).toBeUndefined();
});

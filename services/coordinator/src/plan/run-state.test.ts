import { compilePlan } from '@capstan/plan';
import { describe, expect, test } from 'vitest';
import { RunState } from './run-state.js';

const step = (id: string, needs: string[], more: object = {}) => ({ id, needs, tool: 'cap:test_math:add', ...more });
const stateOf = (...steps: object[]) => new RunState(compilePlan({ steps }));
const ready = (state: RunState, most = 10) => state.takeReady(most).map(({ step: at, element }) => [at, element]);
const end = (state: RunState, at: number, element = -1) => state.apply({ step: at, element, status: 'succeeded' });

describe('a step', () => {
  test('that needs nothing is ready at once, in plan order, and taken once', () => {
    const state = stateOf(step('a', []), step('b', ['a']), step('c', []));
    expect(ready(state, 1)).toEqual([[0, -1]]);
    expect(ready(state)).toEqual([[2, -1]]);
    expect(state.hasReady()).toBe(false);
  });

  test('becomes ready when the last step it needs ends, even if another end is applied twice', () => {
    const state = stateOf(step('a', []), step('b', []), step('c', ['a', 'b']));
    ready(state);
    end(state, 0);
    end(state, 0);
    expect(state.hasReady()).toBe(false);
    end(state, 1);
    expect(ready(state)).toEqual([[2, -1]]);
  });

  test('that another process has started does not become ready', () => {
    const state = stateOf(step('a', []), step('b', ['a']), step('c', ['a']));
    state.apply({ step: 1, element: -1, status: 'started' });
    end(state, 0);
    expect(ready(state)).toEqual([[2, -1]]);
  });
});

describe('a fanned-out step', () => {
  const fanned = () => {
    const state = stateOf(step('a', [], { for_each: [1, 2, 3, 4] }), step('b', []));
    state.takeReady(10);
    state.apply({ step: 0, element: -1, status: 'started', elements: 4 });
    return state;
  };

  test('hands out its ready elements in portions', () => {
    const state = fanned();
    expect(ready(state, 3)).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
    ]);
    expect(state.hasReady()).toBe(true);
    expect(ready(state, 3)).toEqual([[0, 3]]);
    expect(state.hasReady()).toBe(false);
  });

  test('does not hand out elements that another process has started', () => {
    const state = fanned();
    for (const element of [0, 2]) state.apply({ step: 0, element, status: 'started' });
    expect(ready(state)).toEqual([
      [0, 1],
      [0, 3],
    ]);
  });

  test('counts each of its elements once', () => {
    const state = fanned();
    end(state, 0, 0);
    end(state, 0, 0);
    state.apply({ step: 0, element: 1, status: 'failed' });
    expect(state.fanOf(0)).toMatchObject({ unended: 2, unsuccessful: 1 });
    expect(state.pending()).toEqual([
      { step: 0, element: 2 },
      { step: 0, element: 3 },
      { step: 1, element: -1 },
    ]);
  });

  test('that has ended can be restored with its elements', () => {
    const state = stateOf(step('a', [], { for_each: [1, 2] }), step('b', ['a']));
    state.apply({ step: 0, element: -1, status: 'failed', elements: 2 });
    for (const element of [0, 1]) state.apply({ step: 0, element, status: element === 0 ? 'failed' : 'succeeded' });
    expect(state.fanOf(0)).toMatchObject({ elements: 2, unended: 0, unsuccessful: 1 });
    expect(ready(state)).toEqual([[1, -1]]);
  });

  test('does not count as started itself; only its elements do', () => {
    const state = fanned();
    state.apply({ step: 0, element: 1, status: 'started' });
    expect([-1, 0, 1].map((element) => state.isStarted({ step: 0, element }))).toEqual([false, false, true]);
  });
});

import type { RunEvent, Step } from '@capstan/contracts';
import pc from 'picocolors';
import { describe, expect, test } from 'vitest';
import { widthOf } from '../format/width.js';
import { AT, planRun } from '../testing/plan-run.js';
import { createPlanTree } from './plan-tree.js';
import { renderTree } from './render-tree.js';

const NOW = Date.parse('2026-01-01T12:00:02.000Z');
const look = { colors: pc.createColors(false), columns: null, now: NOW, max_lines: null };

const plan = {
  steps: [
    { id: 'page', tool: 'http.get' },
    { id: 'each', tool: 'x', for_each: [1, 2] },
    { tool: 'y', needs: ['page'] },
  ],
};
const tree = (...steps: Partial<Step>[]) => {
  const made = createPlanTree({ ...planRun(), plan });
  for (const step of steps) made.hear(event(step));
  return made;
};
const event = (step: Partial<Step>): RunEvent => ({
  id: '1',
  event: 'step',
  data: {
    step_id: 'page',
    index: 0,
    element: null,
    name: null,
    tool_id: 'http.get',
    status: 'running',
    invocation_id: 'inv_1',
    reason: null,
    started_at: AT,
    finished_at: null,
    duration_ms: null,
    reused_from: null,
    ...step,
  },
});

describe('the tree of a run', () => {
  test('has a line for each step, with its duration, its needs and the reason of a failure', () => {
    const shown = renderTree(
      tree(
        { status: 'succeeded', finished_at: '2026-01-01T12:00:00.250Z' },
        { index: 2, status: 'failed', reason: 'no\u001b[31m luck', finished_at: '2026-01-01T12:00:01.000Z' },
      ),
      look,
    );
    expect(shown).toEqual([
      '▸ running  notes  0/3  2.0s  run_1',
      '├─ ✓ succeeded  page      250ms  http.get',
      '├─ ○ pending    each             x',
      '└─ ✗ failed     step_3     1.0s  y  ← page  no\\x1b[31m luck',
    ]);
  });

  test('names the hold of a held step', () => {
    const [, step] = renderTree(tree({ status: 'held', reason: 'refunds need two people', started_at: null }), look);
    expect(step).toBe('├─ ⏸ held       page             http.get  hld_1  refunds need two people');
  });

  test('counts the elements of a fan-out, and shows the failed ones', () => {
    const [, , line, wrong] = renderTree(
      tree(
        { index: 1, element: 0, status: 'succeeded', finished_at: '2026-01-01T12:00:01.500Z' },
        { index: 1, element: 1, status: 'denied', reason: 'no rule', started_at: null },
      ),
      look,
    );
    expect(line).toBe('├─ ⊘ denied     each       1.5s  x  2/2, 1 failed');
    expect(wrong).toBe('│   ⊘ denied  [1]  no rule');
  });

  test('shows the duration of a fan-out from its first start to its last end', () => {
    const line = (...steps: Partial<Step>[]) => renderTree(tree(...steps), look)[2];
    const ended = { index: 1, element: 0, status: 'succeeded', finished_at: '2026-01-01T12:00:01.000Z' } as const;
    expect(line(ended, { index: 1, element: 1, status: 'queued', started_at: null })).toContain('  2.0s  x  1/2');
    expect(line({ ...ended, reused_from: 'run_0' })).toContain('  re-used  x  1/1');
    expect(line({ index: 1, element: 0, status: 'queued', started_at: null })).toContain('each             x  0/1');
  });

  test('is aligned by the displayed width of characters', () => {
    const wide = createPlanTree({
      ...planRun({ name: '日本語の計画' }),
      plan: {
        steps: [
          { id: '取得', tool: 'x' },
          { id: 'b', tool: 'y' },
        ],
      },
    });
    wide.hear(event({ status: 'failed', reason: '失敗'.repeat(40), finished_at: AT }));
    const shown = renderTree(wide, { ...look, columns: 50 });
    expect(shown[2]).toBe('└─ ○ pending    b              y');
    expect(shown[1]).toMatch(/^├─ ✗ failed {5}取得 {6}0ms {2}x {2}失敗.*…$/);
    expect(Math.max(...shown.map(widthOf))).toBeLessThanOrEqual(50);
  });

  test('with fewer lines than steps shows the running and failed ones first', () => {
    const shown = renderTree(tree({ status: 'succeeded' }, { index: 2, status: 'running' }), { ...look, max_lines: 1 });
    expect(shown.map((line) => line.slice(0, 14))).toEqual(['▸ running  not', '├─ ▸ running  ', '└─ … 2 more']);
  });

  test('is cut to the width of the terminal', () => {
    const shown = renderTree(tree({ status: 'failed', reason: 'x'.repeat(200) }), { ...look, columns: 40 });
    expect(Math.max(...shown.map((line) => [...line].length))).toBeLessThanOrEqual(40);
  });
});

test('a run is parked if a step is held and nothing else is running', () => {
  expect(tree({ status: 'held' }).isParked()).toBe(true);
  expect(tree({ status: 'held' }, { index: 2, status: 'queued' }).isParked()).toBe(false);
  expect(tree({ status: 'held' }, { status: 'queued' }).isParked()).toBe(false);
});

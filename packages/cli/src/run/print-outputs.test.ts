import type { Run, Step } from '@capstan/contracts';
import { describe, expect, it } from 'vitest';
import { AT, planRun } from '../testing/plan-run.js';
import { type RunOptions, run } from '../testing/run-in-test.js';
import { withAnswers } from '../testing/with-answers.js';

const step = (index: number, element: number | null, payload: unknown, more: Partial<Step> = {}) => ({
  step_id: ['each', 'list'][index],
  index,
  element,
  name: null,
  tool_id: 'x',
  status: 'succeeded',
  invocation_id: `inv_${index}${element ?? ''}`,
  reason: null,
  started_at: null,
  finished_at: null,
  reused_from: null,
  result: { payload, truncated: false, artifacts: [] },
  ...more,
});

const PLAN = 'steps: [{ id: each, tool: x }, { id: list, tool: x }]';
const LINES = Array.from({ length: 14 }, (_, line) => `line ${line}`).join('\n');
let items = [step(0, 0, { result: 1 }), step(0, 1, 'two\u001b[2J'), step(1, null, LINES)];
let state: Run = planRun({ status: 'completed', completed_steps: 3, finished_at: AT });
const { env } = withAnswers((request) => {
  if (request === 'POST /v1/runs') return state;
  if (request.includes('/steps')) return { items, next_cursor: null };
  if (!request.endsWith('/events'))
    return {
      ...state,
      plan: {
        steps: [
          { id: 'each', tool: 'x' },
          { id: 'list', tool: 'x' },
        ],
      },
    };
  const events = items.map(({ result, ...data }) => `event: step\ndata: ${JSON.stringify(data)}\n\n`);
  return [...events, `event: run\ndata: ${JSON.stringify(state)}\n\n`].map((text, id) => `id: ${id}\n${text}`).join('');
});
const runPlan = (options: RunOptions = {}) => run(['run', '-'], { env, stdin: PLAN, ...options });

describe('the outputs of a run', () => {
  it('are only those of the last step in a pipe', async () => {
    const { code, stdout, stderr } = await runPlan();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${LINES}\n` });
    expect(stderr).toContain('✓ succeeded  each[1]');
  });

  it('are those of all elements if the last step that succeeded was fanned out', async () => {
    const all = items;
    items = [...items.slice(0, 2), step(1, null, null, { status: 'skipped' })];
    expect((await runPlan()).stdout).toBe('1\ntwo\\x1b[2J\n');
    items = all;
  });

  it('are printed below the tree on a terminal, with control characters escaped', async () => {
    const { stdout } = await runPlan({ tty: true, env: { ...env, TERM: 'dumb', NO_COLOR: '1' } });
    expect(stdout).toContain('\neach[0]\n1\n\neach[1]\ntwo\\x1b[2J\n\nlist\nline 0\n');
    expect(stdout).toContain('line 9\n… 4 more lines: capstan show inv_1\n');
    expect(stdout).not.toContain('line 10');
  });

  it('are not printed in a pipe if the run failed', async () => {
    state = planRun({ status: 'failed', reason: 'a step failed', failed_steps: 1, finished_at: AT });
    expect(await runPlan()).toMatchObject({ code: 1, stdout: '' });
  });
});

import { expect, it } from 'vitest';
import { run } from '../testing/run-in-test.js';
import { withAnswers } from '../testing/with-answers.js';

const RUN = {
  run_id: 'run_1',
  kind: 'plan',
  status: 'canceled',
  actor: 'ann',
  name: 'notes',
  plan_hash: null,
  policy_hash: null,
  reason: null,
  total_steps: 5,
  completed_steps: 2,
  denied_steps: 0,
  failed_steps: 0,
  canceled_steps: 3,
  skipped_steps: 0,
  created_at: '2026-01-01T12:00:00.000Z',
  finished_at: '2026-01-01T12:00:10.000Z',
};
const { env } = withAnswers((request) => (request.includes('/steps') ? { items: [], next_cursor: null } : RUN));

it('show reports how much of a canceled run was canceled', async () => {
  const { code, stdout } = await run(['show', 'run_1'], { env });
  expect(code).toBe(0);
  expect(stdout).toContain('– canceled  run_1');
  expect(stdout).toMatch(/^ {2}completed +2\n[\s\S]*^ {2}canceled +3$/m);
});

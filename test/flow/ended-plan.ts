import { expect } from 'vitest';
import type { System } from './start-system.js';

export const PLAN = {
  version: '1.0',
  name: 'sums',
  steps: [
    { id: 'one', tool: 'cap:test_math:add', args: { a: 1, b: 2 } },
    { id: 'many', tool: 'cap:test_math:add', for_each: [1, 2], args: { a: `\${{ item }}`, b: 3 } },
    { id: 'never', tool: 'cap:test_math:add', when: `\${{ steps.one.output.result == 0 }}`, args: { a: 1, b: 1 } },
  ],
};

/** A run of the plan that has completed. */
export async function endedPlan({ admin }: System): Promise<string> {
  const { run_id } = await admin.runs.submit({ plan: PLAN });
  const run = await admin.runs.wait(run_id, { timeout_s: 60 });
  expect(run.status).toBe('completed');
  return run_id;
}

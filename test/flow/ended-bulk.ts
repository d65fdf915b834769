import { expect } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import type { System } from './start-system.js';

export const add = (a: number, b = 1) => ({ tool_id: 'cap:test_math:add', inputs: { a, b } });

/** A bulk run of this many sums, all of which have ended. */
export async function endedBulk({ admin }: System, count: number): Promise<string> {
  const { run_id } = await admin.submitBulk(Array.from({ length: count }, (_, index) => add(index)));
  await eventually(async () => expect((await admin.runs.get(run_id)).finished_at).not.toBeNull(), {
    timeout_ms: 20_000,
  });
  return run_id;
}

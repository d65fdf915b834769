import type { System } from './start-system.js';

/** The outcome and hash of each step of a run, in order. They are equal for a run and its replay. */
export async function stepHashes({ admin }: System, run_id: string): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const step of admin.runs.steps(run_id, { limit: 1000 }))
    all.push([step.tool_id, step.status, step.result?.input_hash, step.result?.output_hash]);
  return all;
}

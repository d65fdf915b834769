import { MAX_BULK, Run } from '@capstan/contracts';
import { z } from 'zod';
import type { Sample } from '../subject.js';
import { TOOL } from './call-and-check.js';
import { type Endpoint, request } from './endpoint.js';
import { pollUntil } from './poll-until.js';

/** Reads only what is needed: checking each of ten thousand items would take CPU time from the measured system. */
const BulkAnswer = z.object({ run_id: z.string(), accepted: z.number() });

/** From the first request until every invocation is terminal. The requests follow each other, as one backend would send them. */
export async function measureBulk(endpoint: Endpoint, count: number): Promise<Sample> {
  const bodies = bulkBodies(count);
  const started = performance.now();
  const run_ids: string[] = [];
  for (const body of bodies) run_ids.push(await submit(endpoint, body));
  for (const run_id of run_ids) await allStepsCompleted(endpoint, run_id);
  return { count, elapsed_ms: performance.now() - started };
}

/** Submits without waiting for the end; answers the runs. */
export async function submitInBulk(endpoint: Endpoint, count: number, priority: number): Promise<string[]> {
  const run_ids: string[] = [];
  for (const body of bulkBodies(count, priority)) run_ids.push(await submit(endpoint, body));
  return run_ids;
}

export async function completedSteps(
  endpoint: Endpoint,
  run_id: string,
): Promise<{ completed: number; total: number }> {
  const run = await request(endpoint, { path: `/v1/runs/${run_id}`, status: 200, answer: Run });
  if (run.denied_steps + run.failed_steps > 0)
    throw new Error(`bulk invocations were denied or failed: ${JSON.stringify(run)}`);
  return { completed: run.completed_steps, total: run.total_steps };
}

async function allStepsCompleted(endpoint: Endpoint, run_id: string): Promise<void> {
  const isOver = async () => {
    const { completed, total } = await completedSteps(endpoint, run_id);
    return completed === total;
  };
  await pollUntil(isOver, { every_ms: 50, within_ms: 120_000, what: `the bulk run ${run_id} is over` });
}

/** Written before the clock starts: composing them is the caller's work, not Capstan's. */
function bulkBodies(count: number, priority?: number): { text: string; size: number }[] {
  return Array.from({ length: Math.ceil(count / MAX_BULK) }, (_, request_index) => {
    const size = Math.min(MAX_BULK, count - request_index * MAX_BULK);
    const invocations = Array.from({ length: size }, (_, a) => ({ tool_id: TOOL, inputs: { a, b: 3 }, priority }));
    return { text: JSON.stringify({ invocations }), size };
  });
}

async function submit(endpoint: Endpoint, { text, size }: { text: string; size: number }): Promise<string> {
  const { run_id, accepted } = await request(endpoint, {
    path: '/v1/invocations/bulk',
    body: text,
    status: 202,
    answer: BulkAnswer,
  });
  if (accepted !== size) throw new Error(`a bulk of ${size} was accepted in part: ${accepted}`);
  return run_id;
}

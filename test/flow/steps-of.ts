import type { Client } from '@capstan/client';
import type { Step } from '@capstan/contracts';

/** All steps of a run, in order. */
export async function stepsOf(client: Client, run_id: string): Promise<Step[]> {
  const steps: Step[] = [];
  for await (const step of client.runs.steps(run_id, { limit: 1000 })) steps.push(step);
  return steps;
}

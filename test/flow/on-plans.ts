import type { Json, Run, RunSubmissionInput, Step } from '@capstan/contracts';
import { beforeAll, describe } from 'vitest';
import { type QueueUnderTest, queues } from '../fixtures/queues.js';
import { type System, startSystem } from './start-system.js';
import { stepsOf } from './steps-of.js';

export const ADD = 'cap:test_math:add';
export const add = (a: Json, b: Json = 1) => ({ tool: ADD, args: { a, b } });

export interface Plans {
  readonly queue: QueueUnderTest;
  readonly system: System;
  /** Submits the plan and waits until it is over. */
  run(plan: object | string, more?: Partial<RunSubmissionInput>): Promise<EndedRun>;
}
export interface EndedRun {
  readonly run_id: string;
  readonly done: Run;
  readonly steps: Step[];
  readonly outputs: Json[];
}

/** Runs the same tests on each queue, on a system with two workers. */
export function onPlans(tests: (plans: Plans) => void): void {
  describe.each(queues)('a plan on the $name queue', (queue) => {
    const started = {} as { system: System };
    beforeAll(async () => {
      started.system = await startSystem(queue, { workers: 2 });
    });
    tests({
      queue,
      get system() {
        return started.system;
      },
      run: async (plan, more = {}) => {
        const { runs } = started.system.admin;
        const { run_id } = await runs.submit({ plan: plan as RunSubmissionInput['plan'], ...more });
        const done = await runs.wait(run_id, { timeout_s: 60 });
        const steps = await stepsOf(started.system.admin, run_id);
        return { run_id, done, steps, outputs: steps.map(({ result }) => result?.payload ?? null) };
      },
    });
  });
}

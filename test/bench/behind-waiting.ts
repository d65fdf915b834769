import { completedSteps, submitInBulk } from './bulk.js';
import type { CapstanUnderTest } from './capstan-under-test.js';
import type { LoadGenerator } from './load-generator.js';
import type { Sample } from './sample.js';

/** Runs after everything of the default priority, 0. */
const LOWER_URGENCY = 10;

export interface BehindWaiting {
  /** 50 in flight, as without the waiting ones, and how many of those ran beside it. */
  measure(count: number): Promise<Sample>;
}

/**
 * Throughput while very many invocations wait. They are submitted with the worker stopped and a lower urgency, so that they still wait
 * when the worker is back and the load, more urgent, goes ahead of them. The worker takes one whenever nothing urgent is there; what is
 * taken in one measurement is put back before the next.
 */
export function openBehindWaiting(capstan: CapstanUnderTest, load: LoadGenerator, waiting: number): BehindWaiting {
  const { endpoint } = capstan;
  let run_ids: string[] = [];

  async function stillWaiting(): Promise<number> {
    const runs = await Promise.all(
      run_ids.map(async (run_id) => ({ run_id, ...(await completedSteps(endpoint, run_id)) })),
    );
    run_ids = runs.filter(({ completed, total }) => completed < total).map(({ run_id }) => run_id);
    return runs.reduce((sum, { completed, total }) => sum + total - completed, 0);
  }

  return {
    async measure(count) {
      await capstan.stopWorker();
      const missing = waiting - (await stillWaiting());
      run_ids = [...run_ids, ...(await submitInBulk(endpoint, missing, LOWER_URGENCY))];
      await capstan.startWorker();
      // Answered once the worker is up and warm: its start is not part of the measurement.
      await load.send({ ...endpoint, in_flight: 50, count: Math.ceil(count / 5) });
      const before = await stillWaiting();
      const sample = await load.send({ ...endpoint, in_flight: 50, count });
      const after = await stillWaiting();
      if (after === 0) throw new Error(`the ${waiting} waiting invocations were gone before the load was through`);
      return { ...sample, beside: before - after };
    },
  };
}

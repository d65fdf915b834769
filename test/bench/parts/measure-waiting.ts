import { Redis } from 'ioredis';
import { attempt, type Bench } from '../bench.js';
import type { CapstanUnderTest } from '../capstan-under-test.js';
import { completedSteps, submitInBulk } from '../load/bulk.js';
import type { Sample } from '../subject.js';
import { calibrate, measureOnce } from './measure-calls.js';

/** Runs after everything of the default priority, 0. */
const LOWER_URGENCY = 10;

/**
 * Throughput while very many calls wait. They are submitted with the worker stopped and a lower urgency, so that they still wait
 * when the worker is back and the load, more urgent, goes ahead of them. The worker takes one whenever nothing urgent is there; what is
 * taken in one measurement is put back before the next.
 */
export async function measureWaiting(bench: Bench): Promise<void> {
  const { capstans, options, findings, redis_url } = bench;
  for (const capstan of capstans)
    await attempt(bench, { part: 'waiting', subject: capstan.name, shape: 'behind_waiting' }, async () => {
      const count = await calibrate(capstan, 'in_flight_50', options.seconds);
      const waiting = new Waiting(capstan, options.waiting);
      for (let round = 1; round <= options.rounds; round++) {
        await waiting.fillUp();
        if (capstan.name === 'redis' && round === 1) {
          const megabytes = await memoryOf(redis_url);
          findings.redis_memory.push({ subject: capstan.name, waiting: options.waiting, megabytes });
        }
        await measureOnce(bench, capstan, { round, shape: 'behind_waiting' }, () => waiting.measure(count));
      }
    });
}

class Waiting {
  readonly #capstan: CapstanUnderTest;
  readonly #wanted: number;
  #run_ids: string[] = [];

  constructor(capstan: CapstanUnderTest, wanted: number) {
    this.#capstan = capstan;
    this.#wanted = wanted;
  }

  /** Leaves the worker up and warm: its start is not part of a measurement. */
  async fillUp(): Promise<void> {
    const { endpoint } = this.#capstan;
    await this.#capstan.stop('worker');
    const missing = this.#wanted - (await this.#left());
    this.#run_ids.push(...(await submitInBulk(endpoint, missing, LOWER_URGENCY)));
    await this.#capstan.start('worker');
    await this.#capstan.measure('in_flight_50', 200);
  }

  async measure(count: number): Promise<Sample> {
    const before = await this.#left();
    const sample = await this.#capstan.measure('in_flight_50', count);
    const after = await this.#left();
    if (after === 0)
      throw new Error(`none of the ${this.#wanted} was left waiting at the end of the load: give --waiting more`);
    return { ...sample, beside: before - after };
  }

  async #left(): Promise<number> {
    const runs = await Promise.all(
      this.#run_ids.map(async (run_id) => ({ run_id, ...(await completedSteps(this.#capstan.endpoint, run_id)) })),
    );
    this.#run_ids = runs.filter(({ completed, total }) => completed < total).map(({ run_id }) => run_id);
    return runs.reduce((sum, { completed, total }) => sum + total - completed, 0);
  }
}

async function memoryOf(redis_url: string): Promise<number> {
  const redis = new Redis(redis_url);
  const [, bytes] = /^used_memory:(\d+)/m.exec(await redis.info('memory')) ?? [];
  redis.disconnect();
  return Number(bytes) / 2 ** 20;
}

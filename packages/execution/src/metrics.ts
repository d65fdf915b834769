import type { QueueName } from '@capstan/contracts';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Running } from './running.js';

/** What a worker measures of each runner type. */
export type WorkerMetrics = {
  registry: Registry;
  ended(runner: QueueName, outcome: string, seconds: number): void;
  /** It is tried again. */
  retried(runner: QueueName): void;
  /** How long it took from its submission to its first attempt. */
  waited(runner: QueueName, seconds: number): void;
};

/** From a sum in this process to a page that takes its minutes. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function createWorkerMetrics(
  slots: Readonly<Record<string, number>>,
  running: ReadonlyMap<string, Running>,
): WorkerMetrics {
  const registry = new Registry();
  const attempts = new Counter({
    name: 'capstan_attempts_total',
    help: 'Attempts that ended in this worker, by runner type and outcome',
    labelNames: ['runner', 'outcome'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'capstan_attempt_seconds',
    help: 'How long attempts took, by runner type',
    labelNames: ['runner'],
    buckets: BUCKETS,
    registers: [registry],
  });
  new Gauge({
    name: 'capstan_running_attempts',
    help: 'Attempts under way in this worker, by runner type',
    labelNames: ['runner'],
    registers: [registry],
    collect() {
      for (const runner of Object.keys(slots)) this.set({ runner }, 0);
      for (const { claimed } of running.values()) this.inc({ runner: claimed.runner });
    },
  });
  const wait = new Histogram({
    name: 'capstan_queue_wait_seconds',
    help: 'From the submission of a call to its first attempt, delays and holds included, by runner type',
    labelNames: ['runner'],
    buckets: BUCKETS,
    registers: [registry],
  });
  const retries = new Counter({
    name: 'capstan_retries_total',
    help: 'Attempts that ended in this worker and are to be made again, by runner type',
    labelNames: ['runner'],
    registers: [registry],
  });
  const capacity = new Gauge({
    name: 'capstan_worker_slots',
    help: 'Calls that this worker can run at once, by runner type',
    labelNames: ['runner'],
    registers: [registry],
  });
  for (const [runner, count] of Object.entries(slots)) capacity.set({ runner }, count);
  return {
    registry,
    retried: (runner) => retries.inc({ runner }),
    waited: (runner, took) => wait.observe({ runner }, took),
    ended: (runner, outcome, took) => {
      attempts.inc({ runner, outcome });
      seconds.observe({ runner }, took);
    },
  };
}

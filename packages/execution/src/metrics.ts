import type { QueueName } from '@capstan/contracts';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Running } from './running.js';

/** The metrics of a worker, by runner type. */
export type WorkerMetrics = {
  registry: Registry;
  ended(runner: QueueName, outcome: string, seconds: number): void;
  /** The attempt will be retried. */
  retried(runner: QueueName): void;
  /** How long a call could have run before its first attempt. */
  waited(runner: QueueName, seconds: number): void;
};

/** How attempts end. They are shown before the first of each, because Prometheus sees no increase where a counter appears. */
const OUTCOMES = ['succeeded', 'failed', 'timed_out', 'canceled', 'denied', 'ambiguous', 'handed_back'];

/** In seconds: from an addition in this process to a web page that takes minutes. */
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
    help: 'How long calls could have run before their first attempt, without delays and holds, by runner type',
    labelNames: ['runner'],
    buckets: BUCKETS,
    registers: [registry],
  });
  const retries = new Counter({
    name: 'capstan_retries_total',
    help: 'Attempts in this worker that will be retried, by runner type',
    labelNames: ['runner'],
    registers: [registry],
  });
  const capacity = new Gauge({
    name: 'capstan_worker_slots',
    help: 'Calls that this worker can run at once, by runner type',
    labelNames: ['runner'],
    registers: [registry],
  });
  for (const [runner, count] of Object.entries(slots)) {
    capacity.set({ runner }, count);
    retries.inc({ runner }, 0);
    for (const outcome of OUTCOMES) attempts.inc({ runner, outcome }, 0);
  }
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

import type { RunnerType } from '@capstan/contracts';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Running } from './running.js';

/** What a worker measures of each runner type. */
export type WorkerMetrics = {
  registry: Registry;
  ended(runner: RunnerType, outcome: string, seconds: number): void;
};

/** From a sum in this process to a page that takes its minutes. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function createWorkerMetrics(
  runners: readonly RunnerType[],
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
      for (const runner of runners) this.set({ runner }, 0);
      for (const { claimed } of running.values()) this.inc({ runner: claimed.runner });
    },
  });
  return {
    registry,
    ended: (runner, outcome, took) => {
      attempts.inc({ runner, outcome });
      seconds.observe({ runner }, took);
    },
  };
}

import { RUNNER_QUEUES } from '@capstan/contracts';
import type { Rescued } from '@capstan/store/claim';
import { Counter, Registry } from 'prom-client';

/** The metrics of a coordinator process. */
export type CoordinatorMetrics = { registry: Registry; rescued(moved: Rescued['moved']): void };

/** All that can become of a call whose worker was lost. */
const FATES = ['queued', 'ambiguous', 'failed', 'canceled'];

export function createCoordinatorMetrics(): CoordinatorMetrics {
  const registry = new Registry();
  const rescued = new Counter({
    name: 'capstan_rescued_total',
    help: 'Calls of lost workers, by runner type and outcome: queued again, ambiguous, failed, canceled',
    labelNames: ['runner', 'status'],
    registers: [registry],
  });
  // Shown before the first of each, because Prometheus sees no increase where a counter appears.
  for (const runner of RUNNER_QUEUES) for (const status of FATES) rescued.inc({ runner, status }, 0);
  return {
    registry,
    rescued: (moved) => {
      for (const { runner, status } of moved) rescued.inc({ runner, status });
    },
  };
}

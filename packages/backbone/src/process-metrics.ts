import { performance } from 'node:perf_hooks';
import { HOUR_MS } from '@capstan/contracts';
import type { Store } from '@capstan/store';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Denials } from './denials.js';
import { VERSION } from './version.js';

/**
 * Statistics of a histogram that Node fills from a timer every 10 ms: those 100 wake-ups a second took a third of the CPU of an idle
 * installation. So the timer is set to an hour, these metrics are removed, and a counter that costs nothing shows how busy the loop is.
 */
const DELAY_STATISTICS = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/** Metrics of the process itself, for every service. Sum them over processes, unless their help says otherwise. */
export function processMetrics(service: string, { store, denials }: { store: Store; denials: Denials }): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: HOUR_MS });
  for (const statistic of DELAY_STATISTICS) registry.removeSingleMetric(`nodejs_eventloop_lag_${statistic}_seconds`);
  new Counter({
    name: 'capstan_event_loop_busy_seconds_total',
    help: 'Time in which the event loop of this process was not idle; its rate is near 1 when the process is the limit',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(performance.eventLoopUtilization().active / 1000);
    },
  });
  denials.showIn(registry);
  new Gauge({
    name: 'capstan_build_info',
    help: 'Always 1; the labels tell the version and the service',
    labelNames: ['version', 'service', 'node'],
    registers: [registry],
  }).set({ version: VERSION, service, node: process.version }, 1);
  new Gauge({
    name: 'capstan_database_pool_connections',
    help: 'Connections to Postgres of this process, by state (busy, idle), and callers that wait for one (waiting)',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { busy, idle, waiting } = store.pool();
      this.set({ state: 'busy' }, busy);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  new Gauge({
    name: 'capstan_database_pool_max',
    help: 'Connections to Postgres that this process may open',
    registers: [registry],
  }).set(store.pool().max);
  return registry;
}

import type { Store } from '@capstan/store';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { VERSION } from './version.js';

/** What every service shows of its own process. To be summed over processes, except where it is said. */
export function processMetrics(service: string, { store }: { store: Store }): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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

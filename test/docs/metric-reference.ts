import { Denials, processMetrics, storeMetrics } from '@capstan/backbone';
import { createCoordinatorMetrics } from '@capstan/coordinator';
import { createWorkerMetrics } from '@capstan/execution';
import type { Store } from '@capstan/store';
import { createMetrics } from '../../services/gateway/dist/health/metrics.js';

type Registry = ReturnType<typeof storeMetrics>;

/** A metric of prom-client says these of itself; its types do not. */
const partsOf = (metric: object): { name: string; type: string; help: string; labels: string[] } => {
  const { name, type, help, labelNames } = Object.fromEntries(Object.entries(metric));
  return { name, type, help, labels: labelNames };
};

const rowsOf = (registry: Registry, of: (name: string) => string[]): string =>
  registry
    .getMetricsAsArray()
    .map(partsOf)
    .filter(({ name }) => name.startsWith('capstan_'))
    .map(({ name, type, help, labels }) => {
      const cells = [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), ...of(name), help];
      return `| ${cells.join(' | ')} |`;
    })
    .join('\n');

/** docs/reference/metrics.md, from the metrics that services declare. */
export function metricReference(store: Store): string {
  const counted = (registry: Registry, services: string) => rowsOf(registry, () => [services]);
  return `# Metrics

Every service serves these at \`/metrics\` for Prometheus; see [operating](../guides/operating.md#metrics). All times are in seconds.

## Take the sum over processes

What each process counts for itself. \`capstan up\` is all services in one.

| metric | type | labels | of | |
|---|---|---|---|---|
${counted(createMetrics(() => 0).registry, 'gateway')}
${counted(createWorkerMetrics({}, new Map()).registry, 'worker; gateway, for workers of pools')}
${counted(createCoordinatorMetrics().registry, 'coordinator')}
${counted(processMetrics('', { store, denials: new Denials() }), 'all')}

Every service has the \`process_*\` and \`nodejs_*\` metrics of its process as well: CPU, memory, garbage collection.

## Take the max over processes

What Postgres says of the whole installation. Every gateway and coordinator shows the same, so a sum would count it several times.

| metric | type | labels | over processes | |
|---|---|---|---|---|
${rowsOf(storeMetrics({ store }), (name) => [name === 'capstan_store_up' ? 'min' : 'max'])}

The label \`runner\` is a runner type, or \`app/<pool>\` for a pool of workers of your own.

This page is generated from the metrics that the services declare.
`;
}

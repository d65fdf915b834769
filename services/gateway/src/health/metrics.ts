import type { NewInvocation } from '@capstan/store/invocation';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { SHED_REASONS, type ShedReason } from '../load/create-shedder.js';

export type Metrics = {
  /** The metrics of this gateway and of the registries `beside` it. */
  registry: Registry;
  submitted(row: Pick<NewInvocation, 'status'>): void;
  /** `path` is that of the route, not of the request, so that callers cannot create new series. */
  answered(path: string | undefined, status: number, seconds: number): void;
  shed(reason: ShedReason): void;
};

/** `beside`: registries of others in this process, such as a worker. */
export function createMetrics(waiters: () => number, beside: readonly Registry[] = []): Metrics {
  const registry = new Registry();
  const submissions = new Counter({
    name: 'capstan_submissions_total',
    help: 'Invocations committed by this gateway, by first status',
    labelNames: ['status'],
    registers: [registry],
  });
  const shed = new Counter({
    name: 'capstan_requests_shed_total',
    help: 'Submissions refused because this gateway was overloaded, by the exhausted resource',
    labelNames: ['reason'],
    registers: [registry],
  });
  // Shown before the first of each, because Prometheus sees no increase where a counter appears.
  for (const reason of SHED_REASONS) shed.inc({ reason }, 0);
  const requests = new Counter({
    name: 'capstan_http_requests_total',
    help: 'Requests answered, by the first part of their path and status',
    labelNames: ['area', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'capstan_http_request_seconds',
    help: 'Time to answer, waiting included, by the first part of the path',
    labelNames: ['area'],
    buckets: [0.0025, 0.01, 0.05, 0.25, 1, 5, 30],
    registers: [registry],
  });
  new Gauge({
    name: 'capstan_waiting_callers',
    help: 'Callers that wait for a result at this gateway',
    registers: [registry],
    collect() {
      this.set(waiters());
    },
  });
  const all = Registry.merge([registry, ...beside]);
  return {
    registry: all,
    submitted: ({ status }) => submissions.inc({ status }),
    shed: (reason) => shed.inc({ reason }),
    answered: (path, status, took) => {
      const area = areaOf(path);
      requests.inc({ area, status: String(status) });
      seconds.observe({ area }, took);
    },
  };
}

/**
 * The area of `/v1/invocations/{id}` is `invocations`, that of `/mcp` is `mcp`. Series for each route and status, with their
 * buckets, took half a megabyte.
 */
const areaOf = (path: string | undefined): string =>
  path?.split('/').find((part) => part !== '' && part !== 'v1') ?? 'none';

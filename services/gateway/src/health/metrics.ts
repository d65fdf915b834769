import type { NewInvocation } from '@capstan/store';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ShedReason } from '../load/create-shedder.js';

export type Metrics = {
  /** Of this gateway, and of those beside it. */
  registry: Registry;
  submitted(row: Pick<NewInvocation, 'status' | 'decision'>): void;
  /** `path` is that of a route, never of a request: whoever asks must not make new series. */
  answered(path: string | undefined, status: number, seconds: number): void;
  shed(reason: ShedReason): void;
};

/** `beside`: what others in this process measure, a worker for instance. */
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
    help: 'Submissions refused because this gateway was overloaded, by what it was short of',
    labelNames: ['reason'],
    registers: [registry],
  });
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
  const denials = new Counter({
    name: 'capstan_denials_total',
    help: 'Calls that this gateway denied, by code',
    labelNames: ['code'],
    registers: [registry],
  });
  const all = Registry.merge([registry, ...beside]);
  return {
    registry: all,
    submitted: ({ status, decision }) => {
      submissions.inc({ status });
      if (status === 'denied') denials.inc({ code: decision.code ?? 'POLICY_DENIED' });
    },
    shed: (reason) => shed.inc({ reason }),
    answered: (path, status, took) => {
      const area = areaOf(path);
      requests.inc({ area, status: String(status) });
      seconds.observe({ area }, took);
    },
  };
}

/**
 * `/v1/invocations/{id}` is of `invocations`, `/mcp` of `mcp`. A series of each route and status, with its buckets, was half
 * a megabyte.
 */
const areaOf = (path: string | undefined): string =>
  path?.split('/').find((part) => part !== '' && part !== 'v1') ?? 'none';

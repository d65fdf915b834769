import { listQueues, type Store } from '@capstan/store';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ShedReason } from '../load/create-shedder.js';

export type Metrics = {
  /** Of this gateway, and of those beside it. */
  registry: Registry;
  submitted(status: string): void;
  /** `path` is that of a route, never of a request: whoever asks must not make new series. */
  answered(path: string | undefined, status: number, seconds: number): void;
  shed(reason: ShedReason): void;
};

/** `beside`: what others in this process measure, a worker for instance. */
export function createMetrics(store: Store, waiters: () => number, beside: readonly Registry[] = []): Metrics {
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
  const storeUp = new Gauge({
    name: 'capstan_store_up',
    help: 'Whether Postgres answered when the metrics were read',
    registers: [registry],
  });
  new Gauge({
    name: 'capstan_invocations',
    help: 'Invocations that have not ended, by runner type and status',
    labelNames: ['runner', 'status'],
    registers: [registry],
    async collect() {
      // Without Postgres the rest is still worth reading, and then most of all.
      const queues = await listQueues(store.db).catch(() => null);
      storeUp.set(queues ? 1 : 0);
      this.reset();
      for (const { runner, queued, deferred, held, running } of queues ?? []) {
        this.set({ runner, status: 'queued' }, queued);
        this.set({ runner, status: 'deferred' }, deferred);
        this.set({ runner, status: 'held' }, held);
        this.set({ runner, status: 'running' }, running);
      }
    },
  });
  const all = Registry.merge([registry, ...beside]);
  return {
    registry: all,
    submitted: (status) => submissions.inc({ status }),
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

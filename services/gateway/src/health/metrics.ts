import { listQueues, type Store } from '@capstan/store';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ShedReason } from '../load/create-shedder.js';

export type Metrics = {
  content_type: string;
  read(): Promise<string>;
  submitted(status: string): void;
  answered(route: string, status: number, seconds: number): void;
  shed(reason: ShedReason): void;
};

/** `beside`: what others in this process measure, a worker for instance. */
export function createMetrics(store: Store, waiters: () => number, beside: readonly Registry[] = []): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
  const requests = new Histogram({
    name: 'capstan_http_request_seconds',
    help: 'Time to answer, waiting included',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
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
    content_type: all.contentType,
    read: () => all.metrics(),
    submitted: (status) => submissions.inc({ status }),
    shed: (reason) => shed.inc({ reason }),
    answered: (route, status, seconds) => requests.observe({ route, status: String(status) }, seconds),
  };
}

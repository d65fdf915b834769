import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '@capstan/store';
import { readBacklog, readScale } from '@capstan/store/queue';
import { listQueues } from '@capstan/store/worker';
import { Gauge, Registry } from 'prom-client';

/** Prometheus gives up after 10 seconds by default, and then it has not even `capstan_store_up`. */
const PATIENCE_MS = 2000;

/**
 * Metrics of the whole installation, read from Postgres at each scrape. Every gateway and coordinator reports the same values, so
 * aggregate over processes with `max`, never `sum`.
 */
export function storeMetrics({ store }: { store: Store }): Registry {
  const registry = new Registry();
  let refreshing: Promise<void> | null = null;
  /** One refresh for all gauges of a scrape. */
  const refresh = (): Promise<void> => {
    refreshing ??= show().finally(() => {
      refreshing = null;
    });
    return refreshing;
  };
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry], collect: refresh });
  const invocations = gauge('capstan_invocations', 'Invocations that have not ended, by runner type and status', [
    'runner',
    'status',
  ]);
  const byRunner = {
    waiting: gauge('capstan_queue_waiting', 'Calls that a worker could take now, by runner type', ['runner']),
    oldest_wait_s: gauge(
      'capstan_queue_oldest_wait_seconds',
      'How long the oldest waiting call could have run, by runner type',
      ['runner'],
    ),
    slots: gauge('capstan_queue_slots', 'Calls that the live workers can run at once, by runner type', ['runner']),
    workers: gauge('capstan_queue_workers', 'Live workers, by runner type', ['runner']),
    paused: gauge('capstan_queue_paused', '1 while nothing of a runner type is started', ['runner']),
  };
  const backlog = {
    holds_pending: gauge('capstan_holds_pending', 'Calls that wait for a person'),
    hold_oldest_s: gauge('capstan_hold_oldest_seconds', 'Age of the oldest pending hold'),
    quota_deferred: gauge('capstan_quota_deferred', 'Calls that wait for room in a quota'),
    outbox: gauge('capstan_outbox', 'Deliveries that are on their way through Redis and no worker has taken'),
    outbox_oldest_s: gauge('capstan_outbox_oldest_seconds', 'Age of the oldest delivery that no worker has taken'),
    webhooks_pending: gauge('capstan_webhook_backlog', 'Webhook deliveries that have not succeeded yet'),
    webhook_oldest_s: gauge('capstan_webhook_oldest_seconds', 'Age of the oldest delivery that has not succeeded'),
    schedule_lag_s: gauge('capstan_schedule_lag_seconds', 'Delay of the most overdue schedule'),
    unlogged: gauge('capstan_seal_backlog', 'Ends of calls that are not in the log yet, up to 10,000'),
    unlogged_oldest_s: gauge('capstan_seal_lag_seconds', 'Age of the oldest end that is not in the log yet'),
  };
  const up = gauge('capstan_store_up', 'Whether Postgres answered when the metrics were read');

  let reading: ReturnType<typeof read> | null = null;
  const read = () => {
    // The list of queues includes those of pools, which are known only from Postgres.
    const byQueue = listQueues(store.db).then(async (queues) => ({
      queues,
      loads: await readScale(
        store,
        queues.map(({ runner }) => runner),
      ),
    }));
    return Promise.all([byQueue, readBacklog(store)]);
  };
  const show = async (): Promise<void> => {
    // While a read hangs, later scrapes do not start others.
    reading ??= read().finally(() => {
      reading = null;
    });
    const late = delay(PATIENCE_MS, null, { ref: false });
    // If Postgres is unavailable, a scrape must not fail: the other metrics matter most then.
    const answers = await Promise.race([reading.catch(() => null), late]);
    registry.resetMetrics();
    up.set(answers ? 1 : 0);
    if (!answers) return;
    const [{ queues, loads }, now] = answers;
    for (const { runner, queued, deferred, held, running } of queues)
      for (const [status, count] of Object.entries({ queued, deferred, held, running }))
        invocations.set({ runner, status }, count);
    for (const load of loads) {
      const { runner, paused, ...counts } = load;
      for (const name of RUNNER_GAUGES) byRunner[name].set({ runner }, counts[name]);
      byRunner.paused.set({ runner }, paused ? 1 : 0);
    }
    for (const name of BACKLOG_GAUGES) backlog[name].set(now[name]);
  };
  return registry;
}

const RUNNER_GAUGES = ['waiting', 'oldest_wait_s', 'slots', 'workers'] as const;
const BACKLOG_GAUGES = [
  'holds_pending',
  'hold_oldest_s',
  'quota_deferred',
  'outbox',
  'outbox_oldest_s',
  'webhooks_pending',
  'webhook_oldest_s',
  'schedule_lag_s',
  'unlogged',
  'unlogged_oldest_s',
] as const;

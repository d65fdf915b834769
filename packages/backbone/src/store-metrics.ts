import { RUNNER_QUEUES } from '@capstan/contracts';
import { listQueues, readBacklog, readScale, type Store } from '@capstan/store';
import { Gauge, Registry } from 'prom-client';

/**
 * What Postgres says of the whole installation, read when it is asked for. Every gateway and coordinator shows the same, so over
 * processes take the `max`, never the sum.
 */
export function storeMetrics({ store }: { store: Store }): Registry {
  const registry = new Registry();
  let reading: Promise<void> | null = null;
  /** All of them are read together, whichever is asked for first. */
  const refresh = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry], collect: refresh });
  const invocations = gauge('capstan_invocations', 'Invocations that have not ended, by runner type and status', [
    'runner',
    'status',
  ]);
  const byRunner = {
    waiting: gauge('capstan_queue_waiting', 'Calls that a worker could take now, by runner type', ['runner']),
    oldest_wait_s: gauge('capstan_queue_oldest_wait_seconds', 'How long ago the oldest of those was submitted', [
      'runner',
    ]),
    slots: gauge('capstan_queue_slots', 'Calls that the live workers can run at once, by runner type', ['runner']),
    workers: gauge('capstan_queue_workers', 'Live workers, by runner type', ['runner']),
    paused: gauge('capstan_queue_paused', '1 while nothing of a runner type is started', ['runner']),
  };
  const backlog = {
    holds_pending: gauge('capstan_holds_pending', 'Calls that wait for a person'),
    hold_oldest_s: gauge('capstan_hold_oldest_seconds', 'For how long the oldest of those has waited'),
    quota_deferred: gauge('capstan_quota_deferred', 'Calls that wait for room in a quota'),
    outbox: gauge('capstan_outbox', 'Deliveries that are on their way through Redis and no worker has taken'),
    outbox_oldest_s: gauge('capstan_outbox_oldest_seconds', 'For how long the oldest of those is on its way'),
    webhooks_pending: gauge('capstan_webhook_backlog', 'Webhook deliveries that have not succeeded yet'),
    webhook_oldest_s: gauge('capstan_webhook_oldest_seconds', 'The age of the oldest of those'),
    schedule_lag_s: gauge('capstan_schedule_lag_seconds', 'How late the schedule is that should have fired first'),
    unlogged: gauge('capstan_seal_backlog', 'Ends of calls that are not in the log yet, up to 10,000'),
    unlogged_oldest_s: gauge('capstan_seal_lag_seconds', 'The age of the oldest of those'),
  };
  const up = gauge('capstan_store_up', 'Whether Postgres answered when the metrics were read');

  const read = async (): Promise<void> => {
    const answers = Promise.all([listQueues(store.db), readScale(store, RUNNER_QUEUES), readBacklog(store)]);
    // Without Postgres the rest is still worth reading, and then most of all.
    const read = await answers.catch(() => null);
    registry.resetMetrics();
    up.set(read ? 1 : 0);
    if (!read) return;
    const [queues, loads, now] = read;
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

import type { Backbone } from '@capstan/backbone';
import type { KeptFor } from '@capstan/contracts';
import type { SealKey } from '@capstan/integrity';
import { PolicyCache } from '@capstan/policy';
import type { ArtifactStorage } from '@capstan/store/artifact';
import { chainAudit } from '@capstan/store/audit';
import { BACKSTOP, every } from './every.js';
import { runFeed } from './feed-queue.js';
import { runHolds } from './hold/run-holds.js';
import { runLog } from './log/run-log.js';
import { type CoordinatorMetrics, createCoordinatorMetrics } from './metrics.js';
import { runPlans } from './plan/run-plans.js';
import { runQuotas } from './quota/run-quotas.js';
import { runRedelivery } from './redeliver-lost.js';
import { repeat } from './repeat.js';
import { rescueLost } from './rescue-lost.js';
import { runRetention } from './retention/run-retention.js';
import { runDeadlines } from './run-deadlines.js';
import { runLookout } from './run-lookout.js';
import { runSchedules } from './schedule/run-schedules.js';
import { runStats } from './stats/run-stats.js';
import { runWebhooks, type WebhookOptions } from './webhook/run-webhooks.js';

export type CoordinatorOptions = {
  sweep_ms: number;
  /** For tenants without settings of their own. */
  retention: KeptFor;
  artifacts?: ArtifactStorage;
  seal_key?: SealKey | null;
  webhooks?: WebhookOptions;
};
export type Coordinator = { metrics: CoordinatorMetrics; stop(): Promise<void> };

const AUDIT_BATCH = 1000;

/** Lets a duty pause after a batch that is not full, so that work arriving during the pause is done together. */
const ifFull = (found: number, batch: number): number => (found < batch ? 0 : found);

/**
 * Starts all duties. Each claims its rows with SKIP LOCKED or an advisory lock, so several coordinators can run. Duties wake on
 * signals and when work is due; sweeps only find work whose signal was lost, so an idle installation stays idle.
 */
export function startCoordinator(
  backbone: Backbone,
  { sweep_ms, retention, artifacts, seal_key = null, webhooks = {} }: CoordinatorOptions,
): Coordinator {
  const { store, queue, log } = backbone;
  const told = every(sweep_ms, BACKSTOP.told);
  const metrics = createCoordinatorMetrics();
  const policies = PolicyCache.asStored();

  const rescue = repeat(log, 'rescue', () => rescueLost(backbone, metrics), told);
  const audit = repeat(log, 'audit-chain', async () => ifFull(await chainAudit(store, AUDIT_BATCH), AUDIT_BATCH), told);
  const deadlines = runDeadlines(backbone, sweep_ms);
  const plans = runPlans(backbone, policies, sweep_ms);
  const schedules = runSchedules(backbone, policies, sweep_ms);
  const holds = runHolds(backbone, policies, sweep_ms);
  const quotas = runQuotas(backbone, sweep_ms);
  const notices = runWebhooks(backbone, sweep_ms, webhooks);
  const old = runRetention(backbone, retention, artifacts);
  const lookout = runLookout(backbone, sweep_ms, {
    audit,
    rescue,
    fires: { wake: schedules.wakeQueued },
    events: { wake: notices.wake },
  });
  const counts = runStats(backbone, sweep_ms);
  const ends = runLog(backbone, sweep_ms, seal_key);
  // If the queue is Postgres itself, every committed call is delivered.
  const deliveries = queue.kind === 'redis' ? [runFeed(backbone), runRedelivery(backbone, sweep_ms)] : [];
  const duties = [
    rescue,
    audit,
    deadlines,
    plans,
    schedules,
    holds,
    quotas,
    notices,
    old,
    lookout,
    ends,
    counts,
    ...deliveries,
  ];
  log.info('coordinator started');
  return {
    metrics,
    stop: async () => {
      await Promise.all(duties.map((duty) => duty.stop()));
      log.info('coordinator stopped');
    },
  };
}

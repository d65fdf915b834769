import type { Backbone } from '@capstan/backbone';
import type { KeptFor } from '@capstan/contracts';
import type { SealKey } from '@capstan/integrity';
import type { ArtifactStorage } from '@capstan/store';
import { chainAudit, nextDeadline } from '@capstan/store';
import { deliverOutbox } from './deliver-outbox.js';
import { expireLate } from './expire-late.js';
import { runHolds } from './hold/run-holds.js';
import { runPlans } from './plan/run-plans.js';
import { promoteDue } from './promote-due.js';
import { runQuotas } from './quota/run-quotas.js';
import { redeliverLost } from './redeliver-lost.js';
import { repeat } from './repeat.js';
import { rescueLost } from './rescue-lost.js';
import { runRetention } from './retention/run-retention.js';
import { runSchedules } from './schedule/run-schedules.js';
import { LONE_BATCH, sealLoneInvocations, sealRuns } from './seal/seal-ended.js';
import { runWebhooks, type WebhookOptions } from './webhook/run-webhooks.js';

export type CoordinatorOptions = {
  sweep_ms: number;
  /** Where a tenant has no settings of its own. */
  retention: KeptFor;
  artifacts?: ArtifactStorage;
  seal_key?: SealKey | null;
  webhooks?: WebhookOptions;
};
export type Coordinator = { stop(): Promise<void> };

const AUDIT_BATCH = 1000;

/** A batch that is not full was all there is: what comes while the duty rests is then done together. */
const ifFull = (found: number, batch: number): number => (found < batch ? 0 : found);

/** Each duty claims its rows with SKIP LOCKED or an advisory lock, so a second coordinator is a spare, not a duplicate. */
export function startCoordinator(
  backbone: Backbone,
  { sweep_ms, retention, artifacts, seal_key = null, webhooks = {} }: CoordinatorOptions,
): Coordinator {
  const { store, relay, log } = backbone;
  const sweep = () => Promise.resolve(sweep_ms);
  /** Sleeps until something is due; the sweep is for deadlines whose signal was lost. */
  const untilDue = async () => Math.min((await nextDeadline(store)) ?? Number.POSITIVE_INFINITY, 5 * sweep_ms);

  const promote = repeat(log, 'promote', () => promoteDue(backbone), untilDue);
  const expire = repeat(log, 'expire', () => expireLate(backbone), untilDue);
  const plans = runPlans(backbone, sweep_ms);
  const schedules = runSchedules(backbone, sweep_ms);
  const holds = runHolds(backbone, sweep_ms);
  const quotas = runQuotas(backbone, sweep_ms);
  const notices = runWebhooks(backbone, sweep_ms, webhooks);
  const old = runRetention(backbone, retention, artifacts);
  const duties = [
    promote,
    expire,
    repeat(log, 'outbox', () => deliverOutbox(backbone), sweep),
    repeat(log, 'rescue', () => rescueLost(backbone), sweep),
    repeat(log, 'redeliver', () => redeliverLost(backbone).then(() => 0), sweep),
    repeat(log, 'seal', () => sealRuns(backbone, seal_key), sweep),
    repeat(
      log,
      'seal-lone',
      async () => ifFull(await sealLoneInvocations(backbone, seal_key), LONE_BATCH),
      () => Promise.resolve(5 * sweep_ms),
    ),
    repeat(log, 'audit-chain', async () => ifFull(await chainAudit(store, AUDIT_BATCH), AUDIT_BATCH), sweep),
  ];
  const unsubscribe = relay.subscribe('due', () => {
    promote.wake();
    expire.wake();
  });
  log.info('coordinator started');
  return {
    stop: async () => {
      unsubscribe();
      await Promise.all([...duties, plans, schedules, holds, quotas, notices, old].map((duty) => duty.stop()));
      log.info('coordinator stopped');
    },
  };
}

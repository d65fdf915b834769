import type { Backbone } from '@capstan/backbone';
import { nextDeadline } from '@capstan/store';
import { deliverOutbox } from './deliver-outbox.js';
import { expireLate } from './expire-late.js';
import { forgetOld } from './forget-old.js';
import { promoteDue } from './promote-due.js';
import { redeliverLost } from './redeliver-lost.js';
import { repeat } from './repeat.js';
import { rescueLost } from './rescue-lost.js';

export type CoordinatorOptions = { sweep_ms: number; retention_ms: number };
export type Coordinator = { stop(): Promise<void> };

const HOUR_MS = 3_600_000;

/** Each duty claims its rows with SKIP LOCKED or an advisory lock, so a second coordinator is a spare, not a duplicate. */
export function startCoordinator(backbone: Backbone, { sweep_ms, retention_ms }: CoordinatorOptions): Coordinator {
  const { store, relay, log } = backbone;
  const sweep = () => Promise.resolve(sweep_ms);
  /** Sleeps until something is due; the sweep is for deadlines whose signal was lost. */
  const untilDue = async () => Math.min((await nextDeadline(store)) ?? Number.POSITIVE_INFINITY, 5 * sweep_ms);

  const promote = repeat(log, 'promote', () => promoteDue(backbone), untilDue);
  const expire = repeat(log, 'expire', () => expireLate(backbone), untilDue);
  const duties = [
    promote,
    expire,
    repeat(log, 'outbox', () => deliverOutbox(backbone), sweep),
    repeat(log, 'rescue', () => rescueLost(backbone), sweep),
    repeat(log, 'redeliver', () => redeliverLost(backbone).then(() => 0), sweep),
    repeat(
      log,
      'retention',
      () => forgetOld(backbone, retention_ms),
      () => Promise.resolve(HOUR_MS),
    ),
  ];
  const unsubscribe = relay.subscribe('due', () => {
    promote.wake();
    expire.wake();
  });
  log.info('coordinator started');
  return {
    stop: async () => {
      unsubscribe();
      await Promise.all(duties.map((duty) => duty.stop()));
      log.info('coordinator stopped');
    },
  };
}

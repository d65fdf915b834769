import type { Backbone } from '@capstan/backbone';
import type { PolicyCache } from '@capstan/policy';
import { nextFireIn } from '@capstan/store/schedule';
import { BACKSTOP, every } from '../every.js';
import { repeat } from '../repeat.js';
import { fireNextSchedule, fireQueued } from './fire-schedules.js';

/** Sleeps until a schedule is due, or until one is added that is due sooner. */
export type Schedules = {
  /** Wakes the duty for queued starts, because a previous run may have ended. */
  wakeQueued(): void;
  stop(): Promise<void>;
};

export function runSchedules(backbone: Backbone, policies: PolicyCache, sweep_ms: number): Schedules {
  const { store, relay, log } = backbone;
  const backstop = every(sweep_ms, BACKSTOP.due);
  let next_ms: number | null = null;
  const turn = async (): Promise<number> => {
    next_ms = await nextFireIn(store);
    return next_ms === 0 ? fireNextSchedule(backbone, policies) : 0;
  };
  // A schedule that is due but locked is being fired by another coordinator.
  const untilDue = async () => Math.min(next_ms === 0 ? sweep_ms : (next_ms ?? Infinity), await backstop());
  const fire = repeat(log, 'schedules', turn, untilDue);
  const queued = repeat(
    log,
    'queued starts',
    () => fireQueued(backbone, policies).then(() => 0),
    every(sweep_ms, BACKSTOP.told),
  );
  const heed = (ids: string[]) => {
    if (ids.some((id) => id.startsWith('sch_'))) fire.wake();
  };
  const unsubscribe = relay.subscribe('due', heed, fire.wake);
  return {
    wakeQueued: queued.wake,
    stop: async () => {
      unsubscribe();
      await Promise.all([fire.stop(), queued.stop()]);
    },
  };
}

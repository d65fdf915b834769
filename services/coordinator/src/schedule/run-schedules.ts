import type { Backbone } from '@capstan/backbone';
import type { CompiledPolicy } from '@capstan/policy';
import { nextFireIn } from '@capstan/store';
import { Kept } from '../kept.js';
import { repeat } from '../repeat.js';
import { fireNextSchedule, fireQueued } from './fire-schedules.js';

const KEPT_POLICIES = 100;

/** Sleeps until a schedule is due, or one is added that is due sooner. */
export function runSchedules(backbone: Backbone, sweep_ms: number): { stop(): Promise<void> } {
  const { store, relay, log } = backbone;
  const policies = new Kept<CompiledPolicy>(KEPT_POLICIES);
  const untilDue = async () => Math.min((await nextFireIn(store)) ?? Number.POSITIVE_INFINITY, 5 * sweep_ms);
  const fire = repeat(log, 'schedules', () => fireNextSchedule(backbone, policies), untilDue);
  const queued = repeat(
    log,
    'queued starts',
    () => fireQueued(backbone, policies).then(() => 0),
    () => Promise.resolve(sweep_ms),
  );
  const unsubscribe = relay.subscribe('due', (ids) => {
    if (ids.some((id) => id.startsWith('sch_'))) fire.wake();
  });
  return {
    stop: async () => {
      unsubscribe();
      await Promise.all([fire.stop(), queued.stop()]);
    },
  };
}

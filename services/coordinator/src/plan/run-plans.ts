import type { Backbone } from '@capstan/backbone';
import type { PolicyCache } from '@capstan/policy';
import { BACKSTOP, every } from '../every.js';
import { repeat } from '../repeat.js';
import { PlanEngine } from './plan-engine.js';

const SOON_MS = 10;
const MAX_SOON_MS = 1000;
/** Completions are collected for this many times the duration of the last turn. */
const GATHER = 3;

/** Advances plans when their steps end, and periodically looks for missed signals. */
export function runPlans(backbone: Backbone, policies: PolicyCache, sweep_ms: number): { stop(): Promise<void> } {
  const { relay, log } = backbone;
  const engine = new PlanEngine(backbone, policies);
  const turns = repeat(
    log,
    'plans',
    () => engine.turn(),
    () => Promise.resolve(60_000),
  );
  let suspects = 0;
  const seldom = every(sweep_ms, BACKSTOP.left_behind);
  const sweep = repeat(
    log,
    'plan sweep',
    async () => {
      const found = await engine.sweep();
      suspects = found.suspects;
      if (found.stuck > 0) turns.wake();
      return 0;
    },
    () => (suspects > 0 ? Promise.resolve(sweep_ms) : seldom()),
  );
  let soon: NodeJS.Timeout | undefined;
  const wakeSoon = () => {
    soon ??= setTimeout(
      () => {
        soon = undefined;
        turns.wake();
      },
      Math.min(MAX_SOON_MS, Math.max(SOON_MS, GATHER * engine.lastTurnMs())),
    );
  };
  const unsubscribe = [
    relay.subscribe('followed', (ids) => {
      const due = engine.hear(ids);
      if (due === 'now') turns.wake();
      else if (due === 'soon') wakeSoon();
    }),
    relay.subscribe('due', (ids) => engine.look(ids) && turns.wake()),
  ];
  return {
    stop: async () => {
      clearTimeout(soon);
      for (const end of unsubscribe) end();
      await Promise.all([turns.stop(), sweep.stop()]);
      await engine.idle();
    },
  };
}

import { type Backbone, tellReady } from '@capstan/backbone';
import { HOUR_MS } from '@capstan/contracts';
import { forgetUses, promoteWaiting } from '@capstan/store/quota';
import { BACKSTOP, every } from '../every.js';
import { repeat } from '../repeat.js';
import { throttled } from '../throttled.js';

const BATCH = 500;
const EAGER_MS = 5;
const MAX_SERVED = 10_000;

/** Queues calls deferred by quotas. Wakes when a call ends, which makes room, and when one is submitted. Without quotas it only sweeps. */
export function runQuotas(backbone: Backbone, sweep_ms: number): { stop(): Promise<void> } {
  const { store, relay, catalog, rules, log } = backbone;
  const served = new Map<string, number>();
  const costOf = (tool_id: string) => catalog.get(tool_id)?.descriptor.effects.cost_units ?? 0;

  const promote = async (): Promise<number> => {
    if (served.size > MAX_SERVED) served.clear();
    const promoted = await promoteWaiting(store, { limit: BATCH, costOf, served });
    tellReady(backbone, promoted);
    return promoted.ids.length;
  };
  // Calls may wait for the next minute or day of a quota, which no signal announces.
  const often = every(sweep_ms, 1);
  const seldom = every(sweep_ms, BACKSTOP.told);
  const duty = repeat(log, 'quotas', promote, () => (rules.quotas().length > 0 ? often() : seldom()));
  const forget = repeat(
    log,
    'old quota uses',
    () => forgetUses(store.db).then(() => 0),
    () => Promise.resolve(HOUR_MS),
  );
  const soon = throttled(duty.wake, () => EAGER_MS);
  const woken = () => {
    if (rules.quotas().length > 0) soon.call();
  };
  const unsubscribe = [
    relay.subscribe('followed', woken),
    relay.subscribe('due', woken, woken),
    // A quota was changed or removed. Calls that it deferred may have been announced before the rules know it, when nothing listens.
    relay.subscribe('refresh', (what) => {
      if (what.includes('quotas'))
        void rules
          .refresh()
          .catch(() => {})
          .then(soon.call);
    }),
  ];
  return {
    stop: async () => {
      soon.stop();
      for (const off of unsubscribe) off();
      await Promise.all([duty.stop(), forget.stop()]);
    },
  };
}

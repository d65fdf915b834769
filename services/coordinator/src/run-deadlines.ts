import type { Backbone } from '@capstan/backbone';
import { nextDeadline } from '@capstan/store';
import { BACKSTOP, every } from './every.js';
import { expireLate } from './expire-late.js';
import { promoteDue } from './promote-due.js';
import { repeat } from './repeat.js';

/** Starts what was deferred and ends what waited for too long, when it is due; the sweep is for deadlines whose signal was lost. */
export function runDeadlines(backbone: Backbone, sweep_ms: number): { stop(): Promise<void> } {
  const { store, relay, log } = backbone;
  const backstop = every(sweep_ms, BACKSTOP.due);
  let next_ms: number | null = null;
  const turn = async (): Promise<number> => {
    next_ms = await nextDeadline(store);
    if (next_ms !== 0) return 0;
    const [promoted, expired] = await Promise.all([promoteDue(backbone), expireLate(backbone)]);
    return promoted + expired;
  };
  // What is due and locked is in the hands of another coordinator: no reason to ask again and again.
  const untilDue = async () => Math.min(next_ms === 0 ? sweep_ms : (next_ms ?? Infinity), await backstop());
  const deadlines = repeat(log, 'deadlines', turn, untilDue);
  const unsubscribe = relay.subscribe('due', deadlines.wake, deadlines.wake);
  return {
    stop: async () => {
      unsubscribe();
      await deadlines.stop();
    },
  };
}

import type { Backbone } from '@capstan/backbone';
import { hasEndsToCount, rollUp, STATS_BATCH } from '@capstan/store/stats';
import { every } from '../every.js';
import { type Repeated, repeat } from '../repeat.js';

/** Counts ended calls in batches, a few seconds later, so that no call waits for it. After a full batch the next one follows at once. */
export function runStats({ store, log }: Backbone, sweep_ms: number): Repeated {
  const count = async (): Promise<number> => {
    const counted = (await hasEndsToCount(store)) ? await rollUp(store) : 0;
    return counted < STATS_BATCH ? 0 : counted;
  };
  return repeat(log, 'stats', count, every(sweep_ms, 5));
}

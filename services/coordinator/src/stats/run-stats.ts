import type { Backbone } from '@capstan/backbone';
import { hasEndsToCount, rollUp, STATS_BATCH } from '@capstan/store';
import { every } from '../every.js';
import { type Repeated, repeat } from '../repeat.js';

/** Counts what ended, a few seconds later and many at a time: no call waits for it. After a full batch the next follows at once. */
export function runStats({ store, log }: Backbone, sweep_ms: number): Repeated {
  const count = async (): Promise<number> => {
    const counted = (await hasEndsToCount(store)) ? await rollUp(store) : 0;
    return counted < STATS_BATCH ? 0 : counted;
  };
  return repeat(log, 'stats', count, every(sweep_ms, 5));
}

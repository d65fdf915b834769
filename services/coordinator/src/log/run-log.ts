import type { Backbone } from '@capstan/backbone';
import type { SealKey } from '@capstan/integrity';
import { appendToLog, hasDueForLog, LOG_BATCH } from '@capstan/store/merkle';
import { every } from '../every.js';
import { type Repeated, repeat } from '../repeat.js';

/**
 * Appends ended calls to the logs of their tenants. A check costs one statement and happens half as often while nothing ends.
 * After a full batch the next one follows at once.
 */
export function runLog({ store, log }: Backbone, sweep_ms: number, key: SealKey | null): Repeated {
  const [busy, idle] = [every(sweep_ms, 1), every(sweep_ms, 2)];
  let due = false;
  const append = async (): Promise<number> => {
    due = await hasDueForLog(store);
    const appended = due ? await appendToLog(store, key) : 0;
    return appended < LOG_BATCH ? 0 : appended;
  };
  return repeat(log, 'log', append, () => (due ? busy() : idle()));
}

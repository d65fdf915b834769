import { setTimeout as delay } from 'node:timers/promises';
import type { SealKey } from '@capstan/integrity';
import { appendToLog, hasDueForLog } from '../merkle/append-to-log.js';
import type { Store } from '../open-store.js';

/** Appends until all that has ended is in the log, and answers how many entries that made. */
export async function logAll(store: Store, key: SealKey | null = null): Promise<number> {
  let count = 0;
  while (await hasDueForLog(store)) {
    const appended = await appendToLog(store, key, { wait: true });
    count += appended;
    // Somebody's transaction is open.
    if (appended === 0) await delay(10);
  }
  return count;
}

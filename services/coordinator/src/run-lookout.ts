import type { Backbone } from '@capstan/backbone';
import { lookForWork } from '@capstan/store/duty';
import { BACKSTOP, every } from './every.js';
import { type Repeated, repeat } from './repeat.js';

type Woken = Record<'audit' | 'fires' | 'events' | 'rescue', Pick<Repeated, 'wake'>>;

/** Looks for work that no signal announces, for all duties in one statement, and again when the next worker lease expires. */
export function runLookout({ store, log }: Backbone, sweep_ms: number, woken: Woken): { stop(): Promise<void> } {
  const backstop = every(sweep_ms, BACKSTOP.left_behind);
  let next_lost_in_ms: number | null = null;
  const look = async (): Promise<number> => {
    const found = await lookForWork(store);
    for (const duty of ['audit', 'fires', 'events', 'rescue'] as const) if (found[duty]) woken[duty].wake();
    next_lost_in_ms = found.next_lost_in_ms;
    return 0;
  };
  // Most leases are renewed before they expire, so look just after the expiry rather than at it.
  const pause = async () => Math.min(await backstop(), Math.max(sweep_ms, (next_lost_in_ms ?? Infinity) + 50));
  return repeat(log, 'lookout', look, pause);
}

import type { Backbone } from '@capstan/backbone';
import { undelivered } from '@capstan/store/claim';
import { BACKSTOP, every } from './every.js';
import { repeat } from './repeat.js';

/** A receipt is delivered right after it is written. One without an owner after this long was left behind or lost. */
const LEFT_BEHIND_MS = 3000;
const BATCH = 1000;

/** Asks the queue at every sweep whether it may have lost data, which costs Postgres nothing, and checks Postgres less often. */
export function runRedelivery(backbone: Backbone, sweep_ms: number): { stop(): Promise<void> } {
  let sweeps = 0;
  const sweep = async (): Promise<number> => {
    sweeps += 1;
    if (sweeps % BACKSTOP.left_behind === 0 || (await backbone.queue.mayHaveLost())) return redeliverLost(backbone);
    return 0;
  };
  return repeat(backbone.log, 'redeliver', sweep, every(sweep_ms, 1));
}

/**
 * Delivers receipts again that should have an owner by now: the process that committed them died first, or Redis lost them.
 * A second delivery is harmless, because only one worker can own a receipt. After Redis restarted, failed over or was wiped, all
 * are delivered again at once. Returns how many if there may be more, otherwise 0.
 */
async function redeliverLost({ store, queue, log }: Backbone): Promise<number> {
  const lost = await queue.mayHaveLost();
  const left = await undelivered(store, lost ? 0 : LEFT_BEHIND_MS, BATCH);
  await (lost ? queue.deliver(left) : queue.deliverAgain(left));
  if (lost) await queue.confirm();
  if (lost && left.length > 0)
    log.warn({ receipts: left.length }, 'Redis may have lost work; the receipts were delivered again');
  return lost && left.length === BATCH ? left.length : 0;
}

import type { Backbone } from '@capstan/backbone';
import { undelivered } from '@capstan/store';
import { BACKSTOP, every } from './every.js';
import { repeat } from './repeat.js';

/** Whoever wrote a receipt delivers it within moments; one that nobody owns after this long was left behind, or lost. */
const LEFT_BEHIND_MS = 3000;
const BATCH = 1000;

/** Asks the queue at every sweep whether it may have lost something, which costs Postgres nothing, and looks itself now and then. */
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
 * Receipts that nobody owns although they should long have arrived: whoever committed them died first, or Redis lost them.
 * Delivering one twice is harmless, because it is owned once. After Redis has restarted, failed over or been wiped, all are
 * delivered again at once. Answers how many, if there may be more.
 */
async function redeliverLost({ store, queue, log }: Backbone): Promise<number> {
  const lost = await queue.mayHaveLost();
  const left = await undelivered(store, lost ? 0 : LEFT_BEHIND_MS, BATCH);
  await (lost ? queue.deliver(left) : queue.deliverAgain(left));
  if (lost) await queue.confirm();
  if (lost && left.length > 0) log.warn({ receipts: left.length }, 'Redis may have lost work: delivered it again');
  return lost && left.length === BATCH ? left.length : 0;
}

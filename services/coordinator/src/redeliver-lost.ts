import type { Backbone } from '@capstan/backbone';
import { RUNNER_TYPES, type RunnerType } from '@capstan/contracts';
import { onlyOne, queuedDeliveries, releaseOverdue, runnersWaiting } from '@capstan/store';
import { every } from './every.js';
import { handOver } from './hand-over.js';
import { repeat } from './repeat.js';

const GRACE_MS = 3000;
const SWEEPS = 10;

/** Asks the queue at every sweep whether it may have lost something, which costs Postgres nothing, and looks itself now and then. */
export function runRedelivery(backbone: Backbone, sweep_ms: number): { stop(): Promise<void> } {
  let sweeps = 0;
  const sweep = async (): Promise<number> => {
    sweeps += 1;
    if (sweeps % SWEEPS === 0 || (await backbone.queue.mayHaveLost())) await redeliverLost(backbone);
    return 0;
  };
  return repeat(backbone.log, 'redeliver', sweep, every(sweep_ms, 1));
}

/**
 * Queued invocations that the queue no longer knows. Delivering one twice is harmless, so this errs on that side:
 * - the queue may have lost data (restarted, failed over, wiped): everything queued is delivered again;
 * - the queue has nothing waiting although Postgres has: that runner type is delivered again;
 * - a retry is overdue: its delayed delivery is gone.
 */
async function redeliverLost(backbone: Backbone): Promise<number> {
  const { store, queue, log } = backbone;
  let count = 0;
  await onlyOne(store, 'redeliver', async () => {
    if (await queue.mayHaveLost()) {
      for (const runner of RUNNER_TYPES) count += await redeliver(backbone, runner, 0);
      await queue.confirm();
      if (count > 0) log.warn({ count }, 'the queue may have lost work: delivered all of it again');
      return;
    }
    for (const runner of await runnersWaiting(store, GRACE_MS)) {
      const { waiting, delayed } = await queue.counts(runner);
      if (waiting + delayed === 0) count += await redeliver(backbone, runner, GRACE_MS);
    }
    const overdue = await releaseOverdue(store, GRACE_MS, 1000);
    await handOver(backbone, overdue);
    count += overdue?.deliveries.length ?? 0;
  });
  return count;
}

async function redeliver({ store, queue }: Backbone, runner: RunnerType, min_age_ms: number): Promise<number> {
  let count = 0;
  for await (const deliveries of queuedDeliveries(store, runner, min_age_ms)) {
    await queue.enqueue(deliveries);
    count += deliveries.length;
  }
  return count;
}

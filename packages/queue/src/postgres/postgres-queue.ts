import type { Delivery, RunnerType } from '@capstan/contracts';
import type { Queue, QueueCounts } from '../queue.js';
import type { Relay } from '../relay/relay.js';
import { consumePostgres } from './consume-postgres.js';

/**
 * The invocations table is the queue: a committed row is delivered already, so handing over is only a wake-up call, and
 * nothing can be lost apart from it.
 */
export function createPostgresQueue(
  relay: Relay,
  counts: (runner: RunnerType) => Promise<QueueCounts>,
  ping: () => Promise<void>,
): Queue {
  const timers = new Set<NodeJS.Timeout>();
  const wake = (runners: Iterable<RunnerType>) => relay.publish('ready', [...new Set(runners)]);
  const wakeLater = ({ runner, delay_ms = 0 }: Delivery) => {
    // If this process ends first, the consumers' sweep finds the row when it is due.
    const timer = setTimeout(() => {
      timers.delete(timer);
      wake([runner]);
    }, delay_ms + 1);
    timers.add(timer);
  };
  return {
    kind: 'postgres',
    needs_outbox: false,
    riding: (deliveries) => relay.riding('ready', [...new Set(deliveries.map(({ runner }) => runner))]),
    enqueue: async (deliveries) => {
      const ready = new Set<RunnerType>();
      for (const delivery of deliveries) {
        if (delivery.delay_ms) wakeLater(delivery);
        else ready.add(delivery.runner);
      }
      if (ready.size > 0) wake(ready);
    },
    consume: (options, take) => consumePostgres(options, take, relay),
    counts,
    drain: () => Promise.resolve(),
    ping,
    mayHaveLost: () => Promise.resolve(false),
    confirm: () => Promise.resolve(),
    close: async () => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

import type { QueueName } from '@capstan/contracts';
import type { Queue, QueueCounts } from '../queue.js';
import type { Relay } from '../relay/relay.js';
import { consumePostgres } from './consume-postgres.js';

/**
 * The tables are the queue: a committed row is delivered already. Workers claim what waits, woken by a signal, and offer to
 * have calls handed to them while nothing does.
 */
export const createPostgresQueue = (
  relay: Relay,
  counts: (runner: QueueName) => Promise<QueueCounts>,
  ping: () => Promise<void>,
): Queue => ({
  kind: 'postgres',
  deliver: () => Promise.resolve(),
  deliverAgain: () => Promise.resolve(),
  consume: (options, work) => consumePostgres(options, work, relay),
  counts,
  ping,
  mayHaveLost: () => Promise.resolve(false),
  confirm: () => Promise.resolve(),
  close: () => Promise.resolve(),
});

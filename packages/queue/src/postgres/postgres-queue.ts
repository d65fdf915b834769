import type { QueueName } from '@capstan/contracts';
import type { Queue, QueueCounts } from '../queue.js';
import type { Relay } from '../relay/relay.js';
import { PostgresConsumer } from './postgres-consumer.js';

/**
 * The tables are the queue: committing a row delivers it. A signal wakes workers to claim waiting calls; while none wait, they
 * offer free slots so that calls are handed to them.
 */
export const createPostgresQueue = (
  relay: Relay,
  counts: (runner: QueueName) => Promise<QueueCounts>,
  ping: () => Promise<void>,
): Queue => ({
  kind: 'postgres',
  deliver: () => Promise.resolve(),
  deliverAgain: () => Promise.resolve(),
  consume: (options, work) => new PostgresConsumer(options, work, relay),
  counts,
  ping,
  mayHaveLost: () => Promise.resolve(false),
  confirm: () => Promise.resolve(),
  close: () => Promise.resolve(),
});

import type { QueueName } from '@capstan/contracts';
import { Queue as BullQueue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Delivery, Queue } from '../queue.js';
import { connectRedis, FAIL_FAST, infoField, requireNoEviction, untilReady } from './connect-redis.js';
import { AGAIN, consumeRedis, prefixOf } from './consume-redis.js';

const EPOCH_KEY = 'capstan:epoch';
const READY_TIMEOUT_MS = 10_000;

export async function createRedisQueue(url: string, onError: (error: unknown) => void): Promise<Queue> {
  const redis = connectRedis(url, FAIL_FAST, onError);
  try {
    await untilReady(redis, READY_TIMEOUT_MS);
    await requireNoEviction(redis);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const queues = new Map<QueueName, ReturnType<typeof openQueue>>();
  const queueOf = (runner: QueueName) => {
    const known = queues.get(runner) ?? openQueue(runner, redis, onError);
    queues.set(runner, known);
    return known;
  };
  const runId = async () => infoField(await redis.info('server'), 'run_id') ?? 'unknown';

  const add = async (deliveries: readonly Delivery[], idOf: (delivery: Delivery) => string): Promise<void> => {
    const runners = [...new Set(deliveries.map(({ runner }) => runner))];
    const jobs = (runner: QueueName) =>
      inOrderOfAdding(deliveries.filter((delivery) => delivery.runner === runner)).map((delivery) =>
        toJob(delivery, idOf(delivery)),
      );
    await Promise.all(runners.map((runner) => queueOf(runner).addBulk(jobs(runner))));
  };
  return {
    kind: 'redis',
    deliver: (deliveries) => add(deliveries, ({ claim_id }) => claim_id),
    deliverAgain: (deliveries) => add(deliveries, ({ claim_id }) => `${claim_id}${AGAIN}`),
    consume: (options, work) => consumeRedis(url, options, work, onError),
    counts: async (runner) => {
      const counts = await queueOf(runner).getJobCounts('wait', 'prioritized', 'delayed', 'active');
      const count = (state: string) => counts[state] ?? 0;
      return {
        waiting: count('wait') + count('prioritized'),
        delayed: count('delayed'),
        active: count('active'),
      };
    },
    ping: async () => {
      await redis.ping();
    },
    // The marker holds the run_id of the server it was written to: a wiped Redis has no marker, and one that was
    // restarted or failed over (and may have lost its last second, or all) has another run_id.
    mayHaveLost: async () => (await redis.get(EPOCH_KEY)) !== (await runId()),
    confirm: async () => {
      await redis.set(EPOCH_KEY, await runId());
    },
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      redis.disconnect();
    },
  };
}

function openQueue(runner: QueueName, connection: Redis, onError: (error: unknown) => void) {
  const queue = new BullQueue(runner, {
    connection,
    prefix: prefixOf(runner),
    skipWaitingForReady: true,
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  queue.on('error', onError);
  return queue;
}

/**
 * BullMQ ignores a job whose id is in Redis already, so a receipt is there once however often it is delivered, and once more
 * where its first job hangs with a worker that does.
 */
const toJob = ({ priority, ahead }: Delivery, jobId: string) => ({
  name: 'run',
  data: {},
  opts: { jobId, ...(ahead ? { lifo: true } : orderOf(priority)) },
});

const goesToTheHead = ({ priority, ahead }: Delivery): boolean => priority < 0 || ahead;

/** Each that is put at the head goes before those that were put there earlier, so the first to go is added last. */
const inOrderOfAdding = (deliveries: readonly Delivery[]): Delivery[] => [
  ...deliveries
    .filter(goesToTheHead)
    .sort((one, other) => one.priority - other.priority)
    .reverse(),
  ...deliveries.filter((delivery) => !goesToTheHead(delivery)),
];

/**
 * In BullMQ what has no priority goes first, in order; ours go below 0 as well, and those are put at the head. Where much
 * waits, the coordinator delivers in the exact order.
 */
const orderOf = (priority: number): { lifo?: true; priority?: number } => {
  if (priority === 0) return {};
  return priority < 0 ? { lifo: true } : { priority };
};
